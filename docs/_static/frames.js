// A game in a frame is as high as it needs to be: nothing of it is cut off.
for (const frame of document.querySelectorAll("iframe.game")) {
  const fit = () => {
    const page = frame.contentDocument; // null where files are opened without a server
    if (!page?.body) return;
    new ResizeObserver(() => {
      frame.style.height = `${page.body.scrollHeight + 2}px`;
    }).observe(page.body);
  };
  frame.addEventListener("load", fit);
  fit();
}
