// `npm run docs`: writes the generated parts of the documentation and the JSON Schemas. A test fails when they are not up to date.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const args = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', join('scripts', 'reference')];
const env = { ...process.env, TERRARIUM_WRITE_DOCS: '1' };
process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1;
