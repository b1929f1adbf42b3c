// The library for import. What is imported here by its name is read before anything runs, by old versions of Node, too.
import guard from './check-node.cjs';

guard.refuseOldNode();

// Loaded with the first platform: a test file that imports this and starts none shall not wait for it.
export async function startEmulator(...args) {
  return (await import('../dist/server/library.js')).startEmulator(...args);
}
