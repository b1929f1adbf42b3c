import { GlobalWindow } from 'happy-dom';

/** Kept from Node.js: the platform runs in this process, too, and its requests and signals must be of the same classes. */
const NODE_GLOBALS =
  /^(fetch|Request|Response|Headers|FormData|Blob|File|URL|URLSearchParams|Abort.*|.*Stream.*|crypto|performance|console|Buffer|process|global|globalThis|set(Timeout|Interval|Immediate)|clear(Timeout|Interval|Immediate)|queueMicrotask|structuredClone|TextEncoder|TextDecoder|WebSocket|MessagePort|MessageChannel)$/;
/** Node.js has these, too, but a document accepts only its own. */
const DOM_GLOBALS =
  /^(.*Event|EventTarget|navigator|location|history|localStorage|sessionStorage|document|window|self|Node|Storage)$/;

declare global {
  var happyWindow: GlobalWindow | undefined;
}

/** A document in this process: as in a browser, but for its layout and its network. Tests of one worker share it. */
function makeDocument(): GlobalWindow {
  const window = new GlobalWindow({ url: 'http://127.0.0.1/ui/', width: 1440, height: 900 });
  const names = new Set<string>();
  for (let prototype: object = window; prototype !== Object.prototype; prototype = Object.getPrototypeOf(prototype)) {
    for (const name of Object.getOwnPropertyNames(prototype)) names.add(name);
  }
  for (const name of names) {
    if (NODE_GLOBALS.test(name) || name === 'constructor' || (name in globalThis && !DOM_GLOBALS.test(name))) continue;
    const value: unknown = Reflect.get(window, name);
    const isMethod = typeof value === 'function' && !/^[A-Z]/.test(name);
    Object.defineProperty(globalThis, name, {
      configurable: true,
      writable: true,
      value: isMethod ? value.bind(window) : value,
    });
  }
  Object.defineProperty(globalThis, 'window', { configurable: true, value: globalThis });
  return window;
}

globalThis.happyWindow ??= makeDocument();

/** Node 20 does not have it; browsers do. */
Map.groupBy ??= <K, V>(values: Iterable<V>, keyOf: (value: V, index: number) => K): Map<K, V[]> => {
  const groups = new Map<K, V[]>();
  let index = 0;
  for (const value of values) {
    const key = keyOf(value, index++);
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return groups;
};
