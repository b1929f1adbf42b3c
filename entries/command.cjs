'use strict';
// Node.js 22 and later caches compiled code, so that the next command starts sooner (unless NODE_DISABLE_COMPILE_CACHE is set).
require('node:module').enableCompileCache?.();
import('../dist/server/cli.js');
