import { z } from 'zod';
import { keyRoutes } from '../../api/routes/security.ts';
import type { PipelineStart } from '../../model/pipeline-run.ts';
import { masked } from '../../model/rules/mask.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PlatformCalls } from './platform-calls.ts';

export const DEFAULT_SERVICE_PORT = '8080';

const records = z.array(
  z.looseObject({ id: z.string(), name: z.string(), properties: z.looseObject({ parent: z.unknown().optional() }) }),
);
type PlatformRecord = z.output<typeof records>[number];

/** The user that a pipeline acts as; throws PipelineError if the user does not exist. */
export async function findAccount(client: PlatformCalls, account: string): Promise<PlatformRecord> {
  const users = await client.json('GET', `/meta/users?expand=true&name=${encodeURIComponent(account)}`, records);
  const [user] = users;
  if (!user) {
    throw new PipelineError(
      `user '${account}' does not exist, but pipelines act as this user. Create it, or select another one with --account.`,
    );
  }
  return user;
}

/** A key pair of the account that a pipeline acts as, good for one run; throws PipelineError if the account does not exist. */
export async function makePipelineKey(client: PlatformCalls, account: string) {
  const user = await findAccount(client, account);
  const orgs = await client.json('GET', '/meta/orgs?expand=true&name=root', records);
  const json = { orgId: orgs[0]?.id };
  const { apiKey, apiSecret } = await client.ask(keyRoutes.createApiKey, { path: { account_id: user.id }, json });
  return {
    key: apiKey,
    secret: apiSecret,
    async end() {
      await client.ask(keyRoutes.deleteApiKey, { path: { api_key: apiKey } });
    },
  };
}

export interface TargetRequest {
  /** Short name or fqon. */
  org: string;
  /** Id, name, or `workspace/name`; the first development environment with an API unless given. */
  environment: string | undefined;
  /** Id or name; the environment's first unless given. */
  api: string | undefined;
}

/**
 * The variables of the deployment target: organization, environment, API, and the address to call. Throws PipelineError if one does not
 * exist.
 */
export async function targetVariables(client: PlatformCalls, request: TargetRequest): Promise<Record<string, string>> {
  const org = encodeURIComponent(request.org);
  const list = (path: string) => client.json('GET', `/meta/${path}`, records);
  const environments = await list(`${org}/environments?expand=true`);
  const apis = await list(`${org}/apis?expand=true`);
  const environment = await chooseEnvironment(request, environments, apis);
  const ofEnvironment = apis.filter((api) => parentOf(api) === environment.id);
  const api = ofEnvironment.find(({ id, name }) => request.api === undefined || [id, name].includes(request.api));
  if (!api) {
    const problem = request.api === undefined ? 'no API yet' : `no API '${request.api}'`;
    throw new PipelineError(
      `environment '${environment.name}' of '${request.org}' has ${problem}. Create one, or select one with --environment and --api.`,
    );
  }
  const deployUrl = await findDeployUrl(client, request.org);
  return {
    PLATFORM_TARGET_ORG_NAME: request.org,
    PLATFORM_TARGET_ENV_UUID: environment.id,
    PLATFORM_TARGET_API_UUID: api.id,
    APP_SERVICE_PORT: DEFAULT_SERVICE_PORT,
    ...(deployUrl !== undefined && { PLATFORM_DEPLOY_URL: deployUrl }),
  };
}

async function chooseEnvironment(
  { org, environment: requestedEnvironment }: TargetRequest,
  environments: readonly PlatformRecord[],
  apis: readonly PlatformRecord[],
): Promise<PlatformRecord> {
  const pathOf = ({ name, properties }: PlatformRecord) => {
    const workspace = Object(properties.workspace ?? properties.parent).name;
    return `${workspace}/${name}`;
  };
  const found = environments.find((candidate) => {
    const { id, name, properties } = candidate;
    if (requestedEnvironment !== undefined) return [id, name, pathOf(candidate)].includes(requestedEnvironment);
    return properties.environment_type === 'development' && apis.some((api) => parentOf(api) === id);
  });
  if (found) return found;
  const present = environments.map(pathOf).join(', ') || 'none';
  const problem =
    requestedEnvironment === undefined
      ? 'no development environment with an API'
      : `no environment '${requestedEnvironment}'`;
  throw new PipelineError(`organization '${org}' has ${problem}; there are: ${present}`);
}

/**
 * Finds the address at which the deployment lambda of an organization, or of the nearest one above it, is published
 * (D-194).
 */
async function findDeployUrl(client: PlatformCalls, fqon: string): Promise<string | undefined> {
  const path = `/meta/${encodeURIComponent(fqon)}/apiendpoints?expand=true&resource=/deploy`;
  const url = (await client.json('GET', path, records))[0]?.properties.public_url;
  if (typeof url === 'string') return url;
  const above = fqon.includes('.') ? fqon.slice(0, fqon.lastIndexOf('.')) : 'root';
  return fqon === 'root' ? undefined : findDeployUrl(client, above);
}

function parentOf({ properties }: PlatformRecord): unknown {
  return Object(properties.parent).id;
}

/** Returns the deployment target of a run: the environment, and the address, if it contains no secret. */
export function targetIn(
  variables: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Pick<PipelineStart, 'deployUrl' | 'targetEnvironmentId'> {
  const { PLATFORM_DEPLOY_URL: written, PLATFORM_TARGET_ENV_UUID: targetEnvironmentId } = variables;
  if (written === undefined || !URL.canParse(written)) return { targetEnvironmentId };
  const { protocol, origin, pathname } = new URL(written);
  if (!/^https?:$/.test(protocol)) return { targetEnvironmentId };
  const deployUrl = `${origin}${pathname}`;
  return { ...(masked(deployUrl, secrets) === deployUrl && { deployUrl }), targetEnvironmentId };
}
