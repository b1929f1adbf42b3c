'use strict';
// Loads the parts that dist/server is bundled into, on Node 20 with the code that V8 made of them before: compiling them is a third of
// loading them. Node 22 and later does that by itself (command.cjs), and there this is nothing but `require`.
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const nodeModule = require('node:module');
const { basename, dirname, join } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

/** After so long a platform that starts has started, and what it has compiled for that is worth keeping. */
const STARTED_AFTER_MS = 3_000;
/** At the end of kept code. */
const CHECK_BYTES = 4;
/** A name that ends with a hash of what is in the file. */
const HASHED = /-[\w-]{8}[.]cjs$/;
/** A process that loads this one starts a platform: what is kept is what that needs, and not what `--help` happens to. */
const OF_A_PLATFORM = /^emulator-/;

/** The parts that have been loaded, by their path: as `require` has it, begun before it runs, so that two may load each other. */
const loaded = new Map();
/** Those that nothing was kept of. */
let compiled = [];
let startsPlatform = false;
let timer;

const keepsCode =
  !nodeModule.enableCompileCache &&
  !process.env.NODE_DISABLE_COMPILE_CACHE &&
  !process.execArgv.concat(process.env.NODE_OPTIONS ?? []).some((option) => option.includes('--enable-source-maps'));

/** What a part exports. `file`: its path, with a hash of what is in it in its name. */
exports.load = keepsCode ? load : require;

function load(file) {
  const before = loaded.get(file);
  if (before) return before.exports;
  const part = { exports: {} };
  loaded.set(file, part);
  const source = readFileSync(file, 'utf8');
  const kept = keptCode(file);
  const script = new vm.Script(nodeModule.wrap(source), {
    filename: file,
    cachedData: kept,
  });
  if (OF_A_PLATFORM.test(basename(file))) {
    startsPlatform = true;
    process.once('exit', keep);
  }
  // V8 looks by itself whether it is of this source's length, this version and these flags.
  if (!kept || script.cachedDataRejected) compiled.push({ file, script });
  // Those that are first asked for while the platform runs are kept, too.
  if (startsPlatform && compiled.length > 0 && !timer) timer = setTimeout(keep, STARTED_AFTER_MS).unref();
  const ofNode = nodeModule.createRequire(file);
  const require_ = (id) => (id.startsWith('./') && HASHED.test(id) ? load(join(dirname(file), id)) : ofNode(id));
  Object.assign(require_, ofNode);
  script.runInThisContext().call(part.exports, part.exports, require_, part, file, dirname(file));
  return part.exports;
}

/** Beside the parts, where whoever could write could also write another part. */
function placeOf(file) {
  return join(dirname(file), 'compiled', `${basename(file)}.${v8.cachedDataVersionTag()}.${process.arch}`);
}

/** Whole or none: V8 looks at no more than the head of it, and dies of what is damaged. */
function keptCode(file) {
  try {
    const kept = readFileSync(placeOf(file));
    const code = kept.subarray(0, -CHECK_BYTES);
    return crc32(code) === kept.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the code of what has run by now. A folder that cannot be written to keeps none. */
function keep() {
  const parts = compiled;
  compiled = [];
  timer = undefined;
  try {
    for (const { file, script } of parts) {
      const place = placeOf(file);
      mkdirSync(dirname(place), { recursive: true });
      // Whole or not at all: another process may be reading it, or writing the same.
      const code = script.createCachedData();
      const check = Buffer.alloc(CHECK_BYTES);
      check.writeUInt32LE(crc32(code));
      writeFileSync(`${place}.${process.pid}`, Buffer.concat([code, check]));
      renameSync(`${place}.${process.pid}`, place);
    }
  } catch {
    // The next start compiles, as this one did.
  }
}
