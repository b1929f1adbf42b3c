'use strict';
import('../dist/server/cli.js');
