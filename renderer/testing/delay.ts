import { onTestFinished } from 'vitest';

/** Delays the responses of a path until the returned function is called. */
export function delay(path: string): () => void {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (address, init) => {
    if (String(address).includes(path)) await promise;
    return realFetch(address, init);
  };
  onTestFinished(() => {
    resolve();
    globalThis.fetch = realFetch;
  });
  return resolve;
}
