'use strict';
// Where Node can keep what it has compiled, the next command starts sooner (Node 22 and later;
// NODE_DISABLE_COMPILE_CACHE says no).
require('node:module').enableCompileCache?.();
import('../dist/server/cli.js');
