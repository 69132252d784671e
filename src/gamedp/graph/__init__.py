"""Graphs of choices: components, end components, attractors. Arrays alone, no games."""
