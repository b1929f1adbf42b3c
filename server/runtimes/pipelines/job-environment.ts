import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentVariables, identityOf } from './job-identity.ts';
import { asVariables, expandText, type JobVariable, type RunVariables, valuesOf } from './job-variables.ts';
import type { PlannedJob } from './plan.ts';

/** Writes the project's variables that are files, and gives them their paths; undefined: there are none. */
export async function createFileVariables(
  all: readonly JobVariable[],
  dir: string,
): Promise<{ variables: JobVariable[]; filesDir: string | undefined }> {
  const variables = await Promise.all(
    all.map(async (variable, index) => {
      if (variable.variable_type !== 'file') return variable;
      const folder = join(dir, String(index));
      await mkdir(folder, { recursive: true });
      const path = join(folder, variable.key);
      await writeFile(path, variable.value, { mode: 0o644 });
      return { ...variable, value: path };
    }),
  );
  return { variables, filesDir: all.some(({ variable_type: type }) => type === 'file') ? dir : undefined };
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
  const valuesIn = (name?: string, more?: Readonly<Record<string, string>>) =>
    valuesOf(run, { ...asVariables({ ...ofJob, ...more }), ...job.variables, ...asVariables(dotenv) }, name);
  const values = valuesIn();
  if (!environment) return { values, jobEnvironment: undefined };
  const name = expandText(environment.name, values);
  const { url, action = 'start' } = environment;
  const jobEnvironment = { name, url: url ?? undefined, action };
  const ofEnvironment = environmentVariables(environment, name);
  if (!url) return { values: valuesIn(name, ofEnvironment), jobEnvironment };
  const address = expandText(url, valuesIn(name, ofEnvironment));
  return { values: valuesIn(name, { ...ofEnvironment, CI_ENVIRONMENT_URL: address }), jobEnvironment };
}
