import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { ExportableResource } from './exportable-resource.ts';
import type { PlatformRecord } from './platform.ts';
import type { TargetSnapshot } from './target-snapshot.ts';

/** What the things of an environment can name on its platform. */
export interface TargetContext {
  /** Nearest first: of the environment, its workspace, its organization. */
  secrets: readonly { id: string; name: string; keys: readonly string[] }[];
  providers: readonly PlatformRecord[];
  /** Names of the variables that a lambda there has from above. */
  variables: readonly string[];
}

const items = z.array(z.looseObject({ key: z.string() })).catch([]);

export async function readTargetContext({ platform, fqon, environment }: TargetSnapshot): Promise<TargetContext> {
  const at = `/${fqon}/environments/${environment.id}`;
  const records = z.array(z.looseObject({ id: z.string(), name: z.string() })).catch([]);
  const [own = [], above = [], variables = {}, providers] = await Promise.all([
    platform.find(`${at}/secrets?expand=true`, records),
    platform.find(`/${fqon}/secrets?expand=true`, records),
    platform.find(`${at}/env`, z.record(z.string(), z.unknown())),
    platform.list(`${at}/providers?type=Lambda&expand=true`),
  ]);
  const workspace = memberOf(environment.properties.workspace, 'id');
  const near = above.filter((one) => isSeen(one, workspace));
  const secrets = [...own, ...near].map((one) => ({
    id: one.id,
    name: one.name,
    keys: items.parse(memberOf(memberOf(one, 'properties'), 'items')).map(({ key }) => key),
  }));
  return { secrets, providers, variables: Object.keys(variables) };
}

/** Is it of the workspace or the organization, and of no other workspace or environment? */
function isSeen(record: unknown, workspace: Json | undefined): boolean {
  const parent = memberOf(memberOf(record, 'properties'), 'parent');
  const id = memberOf(parent, 'id');
  const org = memberOf(memberOf(record, 'org'), 'id');
  return id === undefined || id === workspace || id === org;
}

/** The dependencies of a resource at its destination, or a message that says which one is missing. */
export type Dependencies = { properties: JsonObject } | { missing: string };

/**
 * The properties to send to a destination, with its ids in place of names.
 *
 * @param before the current record at the destination; undefined if it must be created
 * @param lambdas ids of the lambdas there, by name
 */
export function propertiesFor(
  { kind, form, name }: ExportableResource,
  before: PlatformRecord | undefined,
  { secrets, providers }: TargetContext,
  wanted: { provider: Json | undefined; lambdas: ReadonlyMap<string, string> },
): Dependencies {
  const properties = structuredClone(form.properties);
  if (kind === 'lambda') {
    if (typeof properties.code === 'string') properties.code = Buffer.from(properties.code).toString('base64');
    const lacking: string[] = [];
    if (Array.isArray(properties.secrets)) {
      properties.secrets = properties.secrets.map((mount) => {
        if (!isJsonObject(mount) || typeof mount.secret !== 'string') return mount;
        const { secret, ...rest } = mount;
        const found = secrets.find((one) => one.name === secret);
        const key = typeof rest.secret_key === 'string' ? rest.secret_key : undefined;
        const isThere = found && (key === undefined || found.keys.length === 0 || found.keys.includes(key));
        if (!isThere) lacking.push(`secret '${secret}'${key === undefined ? '' : ` with key '${key}'`}`);
        return { secret_id: found?.id ?? '', ...rest };
      });
    }
    if (lacking.length > 0) {
      const what = [...new Set(lacking)].join(', ');
      return { missing: `${what}: create it at the destination first; values of secrets are never copied` };
    }
    if (before === undefined) {
      const provider =
        providers.find((one) => one.name === wanted.provider) ?? (providers.length === 1 ? providers[0] : undefined);
      if (!provider) {
        const known = providers.map((one) => one.name).join(', ');
        const choice = known === '' ? 'the destination has no Lambda provider' : `the destination has ${known}`;
        return { missing: `a provider named '${wanted.provider}' that runs lambdas: ${choice}` };
      }
      properties.provider = { id: provider.id };
    }
  }
  if (kind === 'endpoint') {
    const { lambda } = properties;
    const id = typeof lambda === 'string' ? wanted.lambdas.get(lambda) : undefined;
    if (id === undefined) return { missing: `lambda '${lambda}', which endpoint ${name} calls` };
    delete properties.lambda;
    properties.implementation_id = id;
    keepIdentities(properties, before);
  }
  return { properties };
}

/** The permissions of an endpoint at the destination stay. */
function keepIdentities({ plugins }: JsonObject, before: PlatformRecord | undefined): void {
  const security = memberOf(plugins, 'platformSecurity');
  const there = memberOf(before?.properties.plugins, 'platformSecurity');
  if (!isJsonObject(security) || !isJsonObject(there)) return;
  for (const list of ['users', 'groups']) if (there[list] !== undefined) security[list] = there[list];
}
