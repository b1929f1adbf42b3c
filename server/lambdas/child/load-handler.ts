import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { canCallBack, type FunctionParser } from './call-back-ability.ts';
import { messageOf, traceOf } from './error-text.ts';
import type { Handler } from './run-handler.ts';
import { placeOfSyntaxError, toldPlace } from './syntax-error-place.ts';
import { acceptTypeScript, isTypeScript, TypeScriptError, withoutTypes } from './typescript.ts';

// Taken at start: a lambda may replace the globals of its own process.
const { apply } = Reflect;

/** A module may be the default of a default: what TypeScript compiled, imported by an ES module. */
const DEFAULTS_DEEP = 2;

/**
 * Loads a module, CommonJS or ES, and returns the function that it exports under that name: a member of its exports (an object, a
 * class' instance), a member of its default export, or an export that is a function as a whole. Throws an error whose message
 * says what is wrong with the lambda (D-139); the trace goes to standard error.
 */
export async function loadHandler(file: string, exportName: string): Promise<Handler> {
  const exported = await loadModule(file);
  try {
    return handlerIn(exported, exportName, basename(file));
  } catch (thrown) {
    // A getter can throw anything.
    throw thrown instanceof HandlerMissing ? thrown : explained(thrown, file);
  }
}

/** It is not there, or is none. */
class HandlerMissing extends Error {}

function handlerIn(exported: unknown, exportName: string, file: string): Handler {
  const owners = [exported];
  for (let depth = 1; depth <= DEFAULTS_DEEP; depth += 1) owners.push(memberOf(owners.at(-1), 'default'));
  for (const owner of owners) {
    const member = memberOf(owner, exportName);
    if (typeof member === 'function') return handlerOf(member, owner);
    if (member !== undefined) throw new HandlerMissing(`handler '${exportName}' is a ${typeof member}, not a function`);
  }
  const whole = owners.findLast((owner) => typeof owner === 'function');
  if (memberOf(memberOf(whole, 'prototype'), exportName)) {
    throw new HandlerMissing(
      `handler '${exportName}' is a method of the class that ${file} exports; export an instance of it`,
    );
  }
  if (typeof whole === 'function') return handlerOf(whole, undefined);
  const names = [...new Set(owners.flatMap(namesOf))];
  const known = names.length > 0 ? `its exports are ${names.join(', ')}` : 'it exports nothing';
  throw new HandlerMissing(
    `handler '${exportName}' is not exported by ${file}; ${known}: export it by that name, or name another in the lambda's property 'handler'`,
  );
}

function handlerOf(member: object, owner: unknown): Handler {
  // As: a function is all that can be known of it.
  const handler = member as (...args: unknown[]) => unknown;
  return {
    call: (...args) => apply(handler, owner, args),
    canCallBack: canCallBack(handler, functionParser),
    own: handler,
  };
}

/** It lies beside the child's bundle (scripts/build-child.mjs), not in it: most handlers need none. */
function functionParser(): FunctionParser {
  const file: string = join(dirname(__filename), 'lambda-functions.cjs');
  return require(file) as FunctionParser;
}

async function loadModule(file: string): Promise<unknown> {
  const require = createRequire(file);
  // ES module source has no require of its own; the platform's lambdas may use it all the same (D-142).
  globalThis.require = require;
  if (isTypeScript(file)) acceptTypeScript();
  try {
    return require(file);
  } catch (thrown) {
    const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
    if (code !== 'ERR_REQUIRE_ASYNC_MODULE' && code !== 'ERR_REQUIRE_ESM')
      return loadAsTypeScript(thrown, file, require);
  }
  return import(pathToFileURL(file).href).catch((thrown: unknown) => loadAsTypeScript(thrown, file, require));
}

/** Source that is no JavaScript may be TypeScript. If it is neither, the reader that came further says why. */
function loadAsTypeScript(thrown: unknown, file: string, require: NodeJS.Require): unknown {
  if (!(thrown instanceof SyntaxError) || !file.endsWith('.js')) throw explained(thrown, file);
  const place = placeOfSyntaxError(thrown, file);
  if (place && place.file !== basename(file)) throw explained(thrown, file);
  try {
    withoutTypes(file);
  } catch (failed) {
    throw failed instanceof TypeScriptError && failed.place.line > (place?.line ?? 0)
      ? failed
      : explained(thrown, file);
  }
  acceptTypeScript(file);
  try {
    return require(file);
  } catch (failed) {
    throw explained(failed, file);
  }
}

function explained(thrown: unknown, file: string): Error {
  if (thrown instanceof TypeScriptError) return thrown;
  process.stderr.write(`${traceOf(thrown) ?? messageOf(thrown)}\n`);
  const [message] = messageOf(thrown).split('\n');
  if (!(thrown instanceof SyntaxError)) return new Error(`${basename(file)} failed to load: ${message}`);
  const place = placeOfSyntaxError(thrown, file);
  return new Error(`${place ? toldPlace(place) : `syntax error in ${basename(file)}`}: ${message}`);
}

function memberOf(value: unknown, name: string): unknown {
  return isHolder(value) ? Reflect.get(value, name) : undefined;
}

/** Own names and those of its class. */
function namesOf(value: unknown): string[] {
  if (!isHolder(value)) return [];
  const above: unknown = Object.getPrototypeOf(value);
  const isOfClass = isHolder(above) && above !== Object.prototype && above !== Function.prototype;
  const names = [...Object.keys(value), ...(isOfClass ? Object.getOwnPropertyNames(above) : [])];
  return names.filter((name) => !/^(default|__esModule|constructor)$/.test(name));
}

function isHolder(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
