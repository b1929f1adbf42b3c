export { readSeedFileForApply } from '../services/seeds/read-seed.ts';
export { seedFolder as seedFilesOf } from '../services/seeds/seed-folder.ts';
