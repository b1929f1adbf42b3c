import { existsSync, readFileSync } from 'node:fs';
import Module, { createRequire, register } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { acceptsCallback } from './accepts-callback.ts';
import { messageOf, traceOf, withArticle } from './error-text.ts';
import type { Handler } from './run-handler.ts';
import { isOfSource, placeIn, placeOfSyntaxError, reportedPlace, sourceLine } from './source-place.ts';
import { acceptTypeScript, isTypeScript, TypeScriptError, withoutTypes } from './typescript.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;
const BUILT_IN = [Object.prototype, Function.prototype];

/** `import()`, of the file that loads the child's bundle (scripts/build-child.mjs). */
declare const importModule: (url: string) => Promise<unknown>;

/** Errors of `require` after which `import` is tried: only `import` asks where `offerModules` has it look. */
const IMPORTED = new Set<unknown>(['ERR_REQUIRE_ASYNC_MODULE', 'ERR_REQUIRE_ESM', 'ERR_MODULE_NOT_FOUND']);

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
    return handlerIn(exported, exportName, file);
  } catch (thrown) {
    // A getter can throw anything.
    throw thrown instanceof HandlerMissing ? thrown : explained(thrown, file);
  }
}

class HandlerMissing extends Error {}

function handlerIn(exported: unknown, exportName: string, path: string): Handler {
  const file = basename(path);
  const owners = [exported];
  for (let depth = 1; depth <= DEFAULTS_DEEP; depth += 1) owners.push(memberOf(owners.at(-1), 'default'));
  for (const owner of owners) {
    const member = exportIn(owner, exportName);
    if (typeof member === 'function') return handlerOf(member, owner);
    if (member !== undefined)
      throw new HandlerMissing(`handler '${exportName}' is ${withArticle(typeof member)}, not a function`);
  }
  const ownerFunction = owners.findLast((owner) => typeof owner === 'function');
  if (memberOf(memberOf(ownerFunction, 'prototype'), exportName)) {
    throw new HandlerMissing(
      `handler '${exportName}' is a method of the class that ${file} exports; export an instance of it`,
    );
  }
  if (typeof ownerFunction === 'function') return handlerOf(ownerFunction, undefined);
  const names = [...new Set(owners.flatMap(namesOf))];
  const ownName = exportName.split(/[./;]/).at(-1) ?? '';
  if (ownName !== exportName) {
    throw new HandlerMissing(
      `handler '${exportName}' names a file, but inline code is one file; write in the lambda's property 'handler': ${ownName}`,
    );
  }
  const hint = unexportedIn(path, exportName);
  if (hint !== undefined) throw new HandlerMissing(hint);
  const exportNote = names.length > 0 ? `its exports are ${names.join(', ')}` : 'it exports nothing';
  throw new HandlerMissing(
    `handler '${exportName}' is not exported by ${file}; ${exportNote}: export it under that name, or change the lambda's property 'handler'`,
  );
}

/** The export with a name. Members that every object or function inherits, such as `constructor`, are no exports. */
function exportIn(owner: unknown, name: string): unknown {
  const member = memberOf(owner, name);
  const isInherited =
    name === 'constructor' && isHolder(owner)
      ? !Object.hasOwn(owner, name)
      : BUILT_IN.some((prototype) => Object.getOwnPropertyDescriptor(prototype, name)?.value === member);
  return isInherited ? undefined : member;
}

function handlerOf(member: object, owner: unknown): Handler {
  // As: a function is all that can be known of it.
  const handler = member as (...args: unknown[]) => unknown;
  return {
    call: (...args) => apply(handler, owner, args),
    acceptsCallback: acceptsCallback(handler, functionParser),
    exportedFunction: handler,
  };
}

/** A function of that name at the top of a file, or one that other platforms call; or exports that are none. */
function unexportedIn(file: string, exportName: string): string | undefined {
  for (const name of [exportName, 'main', 'handler']) {
    const declaration = new RegExp(`^(?:(?:async\\s+)?function\\s+|(?:const|let|var)\\s+)${name}\\b`);
    const wrong = `declares ${name} and does not export it`;
    const advice = adviceOn(file, declaration, wrong, `exports.${exportName} = ${name}`);
    if (advice !== undefined) return advice;
  }
  return adviceOn(file, /^(module\.export|exports)\s*=/, 'exports nothing', 'module.exports = ...');
}

/** Returns what to write instead of the first line of a file that matches. */
function adviceOn(file: string, pattern: RegExp, wrong: string, instead: string): string | undefined {
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.findIndex((lineText) => pattern.test(lineText)) + 1;
  if (line === 0) return undefined;
  return `${basename(file)}, line ${line} ${wrong}, in: ${sourceLine(file, line)}; write: ${instead}`;
}

/** Loads the parser, a separate file next to the child's bundle (scripts/build-child.mjs), because most handlers do not need it. */
function functionParser(): typeof import('./declares-callback.ts') {
  const file: string = join(dirname(__filename), 'lambda-declares-callback.cjs');
  return require(file);
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
    if (!IMPORTED.has(code)) return loadAsTypeScript(thrown, file, require);
  }
  return importModule(pathToFileURL(file).href).catch((thrown: unknown) => loadAsTypeScript(thrown, file, require));
}

/** Source that is not JavaScript may be TypeScript. If it is neither, the parser that got further gives the reason. */
function loadAsTypeScript(thrown: unknown, file: string, require: NodeJS.Require): unknown {
  if (!isOfSource(thrown) || !file.endsWith('.js')) throw explained(thrown, file);
  const placeInTrace = placeIn(thrown.stack);
  if (placeInTrace && placeInTrace.file !== basename(file)) throw explained(thrown, file);
  try {
    withoutTypes(file);
  } catch (failed) {
    const line = placeOfSyntaxError(thrown, file)?.line ?? 0;
    throw failed instanceof TypeScriptError && failed.position.line > line ? failed : explained(thrown, file);
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
  const text = messageOf(thrown);
  const [message] = text.split('\n');
  if (!isOfSource(thrown)) {
    const hint = mixtureIn(file, text);
    return new Error(`${basename(file)} failed to load: ${message}${hint === undefined ? '' : `; ${hint}`}`);
  }
  const errorPlace = placeOfSyntaxError(thrown, file);
  const line = errorPlace?.file === basename(file) ? ` in: ${sourceLine(file, errorPlace.line)}` : '';
  return new Error(
    `${errorPlace ? reportedPlace(errorPlace) : `syntax error in ${basename(file)}`}: ${message}${line}`,
  );
}

/** Finds the line at which an ES module assigns exports, if that is why it failed. */
function mixtureIn(file: string, text: string): string | undefined {
  if (!/^.* is not defined in ES module scope$/m.test(text)) return undefined;
  // Node adds which package.json makes the file an ES module, if one does.
  const isByPackage = text.includes('"type": "module"');
  const wrong = isByPackage ? 'is not for a package with "type": "module"' : 'is not for a file with import or export';
  const otherName = isByPackage ? `, or rename the file to ${basename(file, '.js')}.cjs` : '';
  return adviceOn(file, /\b(?:module\.)?exports\b/, wrong, `export const run = ...${otherName}`);
}

function memberOf(value: unknown, name: string): unknown {
  return isHolder(value) ? Reflect.get(value, name) : undefined;
}

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

/** Runs in a separate thread, as Node requires: modules that an import does not find otherwise are resolved from `base`. */
const HOOKS = `
let base;
export function initialize(data) { base = data.base; }
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (thrown) {
    if (thrown?.code !== 'ERR_MODULE_NOT_FOUND' || /^[./]|^[a-z]+:/i.test(specifier)) throw thrown;
    return next(specifier, { ...context, parentURL: base }).catch(() => { throw thrown; });
  }
}`;

/** Lets `require` and `import` find the packages of a `node_modules` that is not above the code; nearer ones take precedence. */
export function offerModules(modules: string): void {
  const { NODE_PATH: inheritedPath } = process.env;
  process.env.NODE_PATH = inheritedPath ? `${inheritedPath}${delimiter}${modules}` : modules;
  // As: not among Node's types; it reads the variable again.
  (Module as unknown as { _initPaths(): void })._initPaths();
  if (inheritedPath === undefined) delete process.env.NODE_PATH;
  else process.env.NODE_PATH = inheritedPath;
  const base = pathToFileURL(join(modules, '..', 'index.js')).href;
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: { base } });
}

/** Lets `require` and `import` find the packages that Yarn installed without a `node_modules`. @param file the project's `.pnp.cjs` */
export function offerPlugAndPlay(file: string): void {
  createRequire(file)(file).setup();
  const loader = join(dirname(file), '.pnp.loader.mjs');
  if (existsSync(loader)) register(pathToFileURL(loader).href);
}
