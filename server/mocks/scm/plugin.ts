import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { plugin, slot } from '../../plugin/plugin.ts';
import { readSecret, writeSecret } from '../../storage/files/read-file.ts';
import { scm } from './declaration.ts';
import { MockScm } from './mock-scm.ts';
import { startScm } from './scm-access.ts';
import type { ScmPipelines } from './scm-pipelines.ts';
import { DEMO_PROJECT } from './scm-projects.ts';

const TOKEN_FILE = 'scm-token.json';
const TOKEN_BYTES = 24;
const tokenSchema = z.object({ token: z.string().min(1) });

/** Finds the project of the running pipeline whose jobs have a token of that id. */
export const jobProjects = slot<(tokenId: string) => number | undefined>('projects of job tokens');

export const scmPipelines = slot<ScmPipelines>('pipelines of the mock GitLab');

/** A GitLab in place of the one that lambdas and pipelines call. */
export const scmPlugin = plugin({
  declaration: scm,
  async start(platform) {
    const { config, logs, folder, allowedHosts, nowMs, onFault } = platform;
    const token = await ensureScmToken(config.scmToken, folder);
    const mock = new MockScm({
      projects: logs.scm,
      groups: logs.scmGroups,
      token,
      projectOfJob: (tokenId) => platform.slot(jobProjects)(tokenId),
      repositories: path.join(folder ?? platform.scratchFolder, 'repositories'),
      registry: {
        folder: path.join(folder ?? platform.scratchFolder, 'registry'),
        maxBytes: config.limits.registryMegabytes * 1024 * 1024,
      },
      pipelines: () => platform.slot(scmPipelines),
      allowedHosts,
      faults: platform.faults,
      nowMs,
      onChange: (project) => platform.publish('pipelines', { project: project?.id }),
      onFault,
    });
    await startScm(mock, logs.places, { host: config.host, port: config.scmPort });
    platform.onStop(() => mock.stop());
    if (config.seed === 'demo' && logs.scm.size === 0) await mock.projects.create(DEMO_PROJECT);
    platform.listensAt(Number(new URL(mock.url).port));
    return {
      scm: mock,
      token,
      /** Addresses of the mock at the last start. */
      places: logs.places,
      access: () => ({ apiUrl: mock.apiUrl, token }),
      /** Values that no log shows: masked variables of all groups, and of a project or of all. */
      secrets(projectId?: number): string[] {
        const projects = [...logs.scm.entries()].filter(([id]) => projectId === undefined || id === String(projectId));
        const owners = [...projects, ...logs.scmGroups.entries()].flatMap(([, { variables }]) => variables);
        return owners.flatMap(({ masked, value }) => (masked ? [value] : []));
      },
    };
  },
});

/** The access token of the mock GitLab: what is configured, or one of this data folder's own (D-200). */
async function ensureScmToken(configured: string | undefined, folder: string | undefined): Promise<string> {
  if (configured !== undefined) return configured;
  const file = folder === undefined ? undefined : path.join(folder, TOKEN_FILE);
  const stored = file === undefined ? undefined : await readSecret(file, tokenSchema);
  if (stored) return stored.token;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  if (file !== undefined) await writeSecret(file, { token });
  return token;
}
