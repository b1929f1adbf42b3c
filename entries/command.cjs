'use strict';
if (!require('node:fs').existsSync(require('node:path').join(__dirname, '..', 'dist', 'server', 'cli.js'))) {
  console.error(
    'terrarium: this clone of the repository is not built yet. Run `npm start` in it: it builds and starts the platform.',
  );
  process.exitCode = 2;
} else {
  // Node.js 22 and later caches compiled code, so that the next command starts sooner (unless NODE_DISABLE_COMPILE_CACHE is set).
  require('node:module').enableCompileCache?.();
  import('../dist/server/cli.js');
}
