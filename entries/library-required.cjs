'use strict';
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

const library = pathToFileURL(require.resolve('../dist/server/library.js')).href;

/**
 * Jest runs test files in separate contexts, which cannot load ES modules, and the platform would use the globals of one test file.
 * There, the import goes through an experimental API of Node.js, which prints a warning once.
 */
const importModule = isInContextOfItsOwn()
  ? vm.runInThisContext('(url) => import(url)', {
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  : (url) => import(url);

function isInContextOfItsOwn() {
  return vm.runInThisContext('Object') !== Object;
}

// Loaded with the first platform, so that a test file that starts none does not wait.
exports.startEmulator = async (...args) => (await importModule(library)).startEmulator(...args);
