// Asks the server. While it is still solving (status 202) the question is asked again.

import { language } from "./words.js";

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function answered(address, options, progress) {
  const began = performance.now();
  options = { ...options, headers: { ...options.headers, "Accept-Language": language } };
  for (;;) {
    let response;
    try {
      response = await fetch(address, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused("", 0);
    }
    if (response.status === 202) {
      const news = await response.json();
      progress({ ...news, seconds: news.seconds ?? (performance.now() - began) / 1000 });
      continue;
    }
    if (response.status === 503) {
      progress({ phase: "wait", done: 0, total: null, seconds: (performance.now() - began) / 1000 });
      await new Promise((done) => setTimeout(done, 1000));
      if (options.signal?.aborted) throw new DOMException("stopped", "AbortError");
      continue;
    }
    if (response.ok) return response;
    let message = "";
    try {
      message = (await response.json()).error ?? "";
    } catch {
      message = response.statusText;
    }
    throw new Refused(message, response.status);
  }
}

const nothing = () => {};

export const canSearch = true;

async function post(name, what, body, signal, progress = nothing) {
  const options = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  };
  const address = `api/games/${encodeURIComponent(name)}/${what}`;
  return (await answered(address, options, progress)).json();
}

export const games = async () => (await answered("api/games", {}, nothing)).json();

export const position = (name, body, signal, progress) =>
  post(name, "position", body, signal, progress);

export const history = (name, body, signal, progress) =>
  post(name, "history", body, signal, progress);

export const puzzles = (name, body, signal, progress) => post(name, "puzzles", body, signal, progress);

// The pages that games bring along, and their answers.
export const pages = async () => (await answered("api/pages", {}, nothing)).json();

export async function ask(name, query, signal, progress = nothing) {
  const address = `api/${name}?${new URLSearchParams(query)}`;
  return (await answered(address, { signal }, progress)).json();
}

export async function surface(name, query, signal, progress = nothing) {
  const address = `api/games/${encodeURIComponent(name)}/surface?${new URLSearchParams(query)}`;
  return (await answered(address, { signal }, progress)).arrayBuffer();
}
