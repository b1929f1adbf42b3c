// A reporter for Vitest: lists the test files that took longest, and the seed of the run.
import { relative } from 'node:path';

const LISTED_FILES = 10;

export default class SlowestFiles {
  onTestRunEnd(modules) {
    const durations = modules.map((module) => [module.diagnostic().duration, module]);
    const slowest = durations.sort(([a], [b]) => b - a).slice(0, LISTED_FILES);
    console.log('\n Slowest test files');
    for (const [durationMs, { moduleId, project }] of slowest) {
      const seconds = (durationMs / 1000).toFixed(1).padStart(6);
      console.log(` ${seconds} s  ${project.name}  ${relative(project.config.root, moduleId)}`);
    }
    const { seed, shuffle } = modules[0]?.project.config.sequence ?? {};
    console.log(` Seed: TEST_SEED=${seed}${shuffle ? ', in shuffled order' : ''}`);
  }
}
