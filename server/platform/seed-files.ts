export { readSeedFileForApply } from '../services/seeds/read-seed.ts';
export { seedFolder } from '../services/seeds/seed-folder.ts';
export { readEnvFile } from '../services/seeds/seed-variables.ts';
