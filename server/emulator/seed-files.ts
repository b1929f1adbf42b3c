export { readSeedFileForApply } from '../seed/read-seed.ts';
export { seedFolder as seedFilesOf } from '../seed/seed-folder.ts';
