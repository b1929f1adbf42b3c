// The library for import: the same as for require(). Imports are evaluated first, so the check comes before the library is required.

import { createRequire } from 'node:module';
import guard from './check-node.cjs';

guard.refuseOldNode();

export const { startEmulator } = createRequire(import.meta.url)('./library.cjs');
