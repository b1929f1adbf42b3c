'use strict';
// Loads the parts of the dist/server bundle. On Node.js 20 it uses V8's cached code, because compiling takes a third of the loading
// time. Node.js 22 and later has its own cache (command.cjs), so this is only `require` there.
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const nodeModule = require('node:module');
const { basename, dirname, join } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

/** After this time the platform has started, and its compiled code can be saved. */
const STARTED_AFTER_MS = 3_000;
/** Marks the end of cached code. */
const CHECK_BYTES = 4;
/** A file name that ends with a hash of the contents. */
const HASHED = /-[\w-]{8}[.]cjs$/;
/** Only a process that loads this part starts a platform, so only that one saves its code. */
const PLATFORM_PART = /^emulator-/;

/** Loaded parts by path; like `require`, added before they run, so that two parts can load each other. */
const loadedParts = new Map();
/** Parts without cached code. */
let compiledParts = [];
let startsPlatform = false;
let timer;

const isCaching =
  !nodeModule.enableCompileCache &&
  !process.env.NODE_DISABLE_COMPILE_CACHE &&
  !process.execArgv.concat(process.env.NODE_OPTIONS ?? []).some((option) => option.includes('--enable-source-maps'));

/** The exports of a part. `file`: its path, whose name contains a hash of the contents. */
exports.load = isCaching ? load : require;

function load(file) {
  const loadedPart = loadedParts.get(file);
  if (loadedPart) return loadedPart.exports;
  const part = { exports: {} };
  loadedParts.set(file, part);
  const source = readFileSync(file, 'utf8');
  const cachedCode = readCachedCode(file);
  const script = new vm.Script(nodeModule.wrap(source), {
    filename: file,
    cachedData: cachedCode,
  });
  if (PLATFORM_PART.test(basename(file))) {
    startsPlatform = true;
    process.once('exit', saveCode);
  }
  // V8 itself checks the length of the source, its version and its flags.
  if (!cachedCode || script.cachedDataRejected) compiledParts.push({ file, script });
  // Parts that are loaded later, while the platform is running, are also cached.
  if (startsPlatform && compiledParts.length > 0 && !timer) timer = setTimeout(saveCode, STARTED_AFTER_MS).unref();
  const nodeRequire = nodeModule.createRequire(file);
  const require_ = (id) => (id.startsWith('./') && HASHED.test(id) ? load(join(dirname(file), id)) : nodeRequire(id));
  Object.assign(require_, nodeRequire);
  script.runInThisContext().call(part.exports, part.exports, require_, part, file, dirname(file));
  return part.exports;
}

/** Next to the parts: a process that can write there could change the parts as well. */
function cacheFileOf(file) {
  return join(
    dirname(file),
    'compiled',
    `${basename(file)}.${v8.cachedDataVersionTag()}.${process.platform}-${process.arch}`,
  );
}

/** Rejects incomplete files: V8 checks only the header, and crashes on damaged code. */
function readCachedCode(file) {
  try {
    const cachedCode = readFileSync(cacheFileOf(file));
    const code = cachedCode.subarray(0, -CHECK_BYTES);
    return crc32(code) === cachedCode.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Saves the code compiled so far; ignores write errors. */
function saveCode() {
  const parts = compiledParts;
  compiledParts = [];
  timer = undefined;
  try {
    for (const { file, script } of parts) {
      const cacheFile = cacheFileOf(file);
      mkdirSync(dirname(cacheFile), { recursive: true });
      // Renamed when complete: another process may be reading or writing the same file.
      const code = script.createCachedData();
      const check = Buffer.alloc(CHECK_BYTES);
      check.writeUInt32LE(crc32(code));
      writeFileSync(`${cacheFile}.${process.pid}`, Buffer.concat([code, check]));
      renameSync(`${cacheFile}.${process.pid}`, cacheFile);
    }
  } catch {
    // The next start compiles, as this one did.
  }
}
