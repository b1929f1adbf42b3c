// Runs a platform in a thread, and makes the calls that platform-thread.cjs sends to it.
import { parentPort, workerData } from 'node:worker_threads';
import { startEmulator } from '../dist/server/library.js';

const { blocking, hookNames, isAnswered, options } = workerData;
const hooks = Object.fromEntries(hookNames.map((hook) => [hook, (value) => parentPort.postMessage({ hook, value })]));

let platform;

/** The plain values of the platform, and the paths of its functions, such as `leads.list`. */
async function start() {
  platform = await startEmulator(options, hooks);
  const facts = {};
  const functions = [];
  for (const [name, value] of Object.entries(platform)) {
    const inside = Object.entries(Object(value)).filter(([, member]) => typeof member === 'function');
    if (typeof value === 'function') functions.push(name);
    else if (inside.length > 0) functions.push(...inside.map(([member]) => `${name}.${member}`));
    else facts[name] = value;
  }
  return { facts, functions };
}

const call = (path, args) => {
  if (path === 'start') return start();
  const [name, group] = path.split('.').reverse();
  return (group === undefined ? platform : platform[group])[name](...args);
};

/** An error without what cannot be sent: its message and its plain properties, such as `code`. */
function describe(error) {
  const plain = Object.entries(error).filter(([, value]) => Object(value) !== value);
  return { message: error.message, properties: Object.fromEntries(plain) };
}

parentPort.on('message', async ({ id, path, args }) => {
  const answer = await (async () => call(path, args))().then(
    (value) => ({ id, value }),
    (error) => ({ id, error: describe(error) }),
  );
  parentPort.postMessage(answer);
  // A thread without a platform has nothing to do: it did not start, or was stopped.
  if (path === 'stop' || (path === 'start' && answer.error)) process.exit();
});

blocking.on('message', ({ path, args }) => {
  try {
    blocking.postMessage({ value: call(path, args) });
  } catch (error) {
    blocking.postMessage({ error: describe(error) });
  }
  Atomics.store(isAnswered, 0, 1);
  Atomics.notify(isAnswered, 0);
});
