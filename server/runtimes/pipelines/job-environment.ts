import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { identityOf, valuesInEnvironment } from './job-identity.ts';
import { asVariables, type JobVariable, type RunVariables } from './job-variables.ts';
import type { PlannedJob } from './plan.ts';

/** Writes the project's variables that are files, and gives them their paths. */
export async function createFileVariables(all: readonly JobVariable[], dir: string): Promise<JobVariable[]> {
  return Promise.all(
    all.map(async (variable, index) => {
      if (variable.variable_type !== 'file') return variable;
      const path = join(dir, String(index), variable.key);
      await mkdir(dirname(path));
      await writeFile(path, variable.value, { mode: 0o644 });
      return { ...variable, value: path };
    }),
  );
}

export interface JobEnvironment {
  name: string;
  url: string | undefined;
  action: string;
}

/** All variables of a job, and its environment. `projectDir` is where it works. */
export function jobVariables(
  job: PlannedJob,
  run: RunVariables,
  { projectDir, dotenv, jobId }: { projectDir: string; dotenv: Readonly<Record<string, string>>; jobId: number },
): { values: Record<string, string>; jobEnvironment: JobEnvironment | undefined } {
  const { environment, image } = job.definition;
  const ofJob = {
    ...identityOf({ ...job, name: job.ownName ?? job.name }),
    CI_JOB_ID: String(jobId),
    CI_JOB_STATUS: 'running',
    CI_JOB_STARTED_AT: new Date().toISOString().replace(/\.\d+/, ''),
    ...(image && { CI_JOB_IMAGE: image.name }),
    CI_JOB_URL: `${run.predefined.CI_PROJECT_URL}/-/jobs/${jobId}`,
    ...(job.when === 'manual' && { CI_JOB_MANUAL: 'true' }),
    CI_PROJECT_DIR: projectDir,
    CI_BUILDS_DIR: projectDir.slice(0, projectDir.lastIndexOf('/')),
  };
  const written = { ...job.variables, ...asVariables(dotenv) };
  const { values, name } = valuesInEnvironment(run, ofJob, written, environment);
  const { url, action = 'start' } = environment ?? {};
  return { values, jobEnvironment: name === undefined ? undefined : { name, url: url ?? undefined, action } };
}
