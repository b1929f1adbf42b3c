'use strict';
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

const library = pathToFileURL(require.resolve('../dist/server/library.js')).href;

/**
 * A test runner that runs its files in contexts of their own (Jest) loads no modules there, and the platform would have the globals
 * of one test file. From there Node is asked for the import by its own way around, which says once that it is experimental.
 */
const importModule = isInContextOfItsOwn()
  ? vm.runInThisContext('(url) => import(url)', {
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  : (url) => import(url);

function isInContextOfItsOwn() {
  return vm.runInThisContext('Object') !== Object;
}

// Loaded with the first platform: a test file that requires this and starts none shall not wait for it.
exports.startEmulator = async (...args) => (await importModule(library)).startEmulator(...args);
