import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { ExportableResource } from './exportable-resource.ts';
import type { PlatformRecord } from './platform.ts';
import type { TargetSnapshot } from './target-snapshot.ts';

/** The properties to send, with ids of the destination, or what is missing there. @param before the record there, if any */
export function propertiesFor(
  { kind, form, name }: ExportableResource,
  before: PlatformRecord | undefined,
  { secrets, providers }: TargetSnapshot,
  references: { provider: Json | undefined; lambdas: ReadonlyMap<string, string> },
): { properties: JsonObject } | { missing: string } {
  const properties = structuredClone(form.properties);
  if (kind === 'lambda') {
    if (typeof properties.code === 'string') properties.code = Buffer.from(properties.code).toString('base64');
    const lacking: string[] = [];
    if (Array.isArray(properties.secrets)) {
      properties.secrets = properties.secrets.map((mount) => {
        if (!isJsonObject(mount) || typeof mount.secret !== 'string') return mount;
        const { secret, ...rest } = mount;
        const found = secrets.find((candidate) => candidate.name === secret);
        const key = typeof rest.secret_key === 'string' ? rest.secret_key : undefined;
        const isThere = found && (key === undefined || found.keys.length === 0 || found.keys.includes(key));
        if (!isThere) lacking.push(`secret '${secret}'${key === undefined ? '' : ` with key '${key}'`}`);
        return { secret_id: found?.id ?? '', ...rest };
      });
    }
    if (lacking.length > 0) {
      const missingList = [...new Set(lacking)].join(', ');
      return { missing: `${missingList}: create it at the destination first; values of secrets are never copied` };
    }
    if (before === undefined) {
      const provider =
        providers.find((candidate) => candidate.name === references.provider) ??
        (providers.length === 1 ? providers[0] : undefined);
      if (!provider) {
        const providerNames = providers.map((candidate) => candidate.name).join(', ');
        const choice =
          providerNames === '' ? 'the destination has no Lambda provider' : `the destination has ${providerNames}`;
        return { missing: `a provider named '${references.provider}' that runs lambdas: ${choice}` };
      }
      properties.provider = { id: provider.id };
    }
  }
  if (kind === 'endpoint') {
    const { lambda } = properties;
    const id = typeof lambda === 'string' ? references.lambdas.get(lambda) : undefined;
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
  const existingSecurity = memberOf(before?.properties.plugins, 'platformSecurity');
  if (!isJsonObject(security) || !isJsonObject(existingSecurity)) return;
  for (const list of ['users', 'groups'])
    if (existingSecurity[list] !== undefined) security[list] = existingSecurity[list];
}
