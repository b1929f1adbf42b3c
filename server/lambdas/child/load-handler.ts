import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, traceOf } from './error-text.ts';
import type { Handler } from './run-handler.ts';
import { lineOfSyntaxError } from './syntax-error-line.ts';

/**
 * Loads a module, CommonJS or ES, and returns the function that it exports under that name: a member of its exports, a
 * member of its default export, or the default export itself when that is a function. Throws an error whose message
 * says what is wrong with the lambda (D-139); the trace goes to standard error.
 */
export async function loadHandler(file: string, exportName: string): Promise<Handler> {
  const exported = await loadModule(file);
  const fallback = memberOf(exported, 'default');
  for (const owner of [exported, fallback]) {
    const member = memberOf(owner, exportName);
    // As: a function is all that can be known of it. Binding keeps the number of its parameters, which matters (D-138).
    if (typeof member === 'function') return member.bind(owner) as Handler;
    if (member !== undefined) throw new Error(`handler '${exportName}' is a ${typeof member}, not a function`);
  }
  for (const whole of [fallback, exported]) if (typeof whole === 'function') return whole as Handler;
  const names = [...namesOf(exported), ...namesOf(fallback)].filter((name) => !/^(default|__esModule)$/.test(name));
  const known = names.length > 0 ? `its exports are ${names.join(', ')}` : 'it exports nothing';
  throw new Error(`handler '${exportName}' is not exported by ${basename(file)}; ${known}`);
}

async function loadModule(file: string): Promise<unknown> {
  const require = createRequire(file);
  // ES module source has no require of its own; the platform's lambdas may use it all the same (D-142).
  globalThis.require = require;
  try {
    return require(file);
  } catch (thrown) {
    const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
    if (code !== 'ERR_REQUIRE_ASYNC_MODULE' && code !== 'ERR_REQUIRE_ESM') throw explained(thrown, file);
  }
  return import(pathToFileURL(file).href).catch((thrown: unknown) => {
    throw explained(thrown, file);
  });
}

function explained(thrown: unknown, file: string): Error {
  process.stderr.write(`${traceOf(thrown) ?? messageOf(thrown)}\n`);
  const [message] = messageOf(thrown).split('\n');
  if (!(thrown instanceof SyntaxError)) return new Error(`${basename(file)} failed to load: ${message}`);
  const place = lineOfSyntaxError(thrown, file);
  return new Error(`syntax error in ${place ? `${place.file}, line ${place.line}` : basename(file)}: ${message}`);
}

function memberOf(value: unknown, name: string): unknown {
  return isHolder(value) ? Reflect.get(value, name) : undefined;
}

function namesOf(value: unknown): string[] {
  return isHolder(value) ? Object.keys(value) : [];
}

function isHolder(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
