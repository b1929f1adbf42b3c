import type { Json, JsonObject } from '../json.ts';
import type { StoredResource, Uuid, WorldView } from '../record.ts';
import type { Draft } from '../resource-type.ts';

/** The default providers by name, with fixed ids: a default is recognized by its id, even if its record was changed (D-068). */
const defaults = {
  'default-logging': {
    id: '981c6bbf-fb40-4ab9-b885-9c34cc26bf40',
    type: 'Configuration::Provider::Logging',
    links: [],
  },
  'nodejs-executor': {
    id: '1f18f148-d025-4581-be83-e6dd7b31a21b',
    type: 'Configuration::Provider::Lambda::Executor::NodeJS',
    links: [],
  },
  'default-docker': {
    id: '426b24e5-31ad-4d99-bc78-7692520de7ee',
    type: 'Configuration::Provider::CaaS::Docker',
    links: ['default-logging'],
  },
  'default-lambda': {
    id: 'dfc3e89a-a57d-492e-a281-671c49175ef2',
    type: 'Configuration::Provider::Lambda',
    links: ['default-logging', 'nodejs-executor'],
  },
  'default-gateway': { id: '1014eac6-2bce-45cd-951f-2b6e338360ac', type: 'Configuration::Provider::Kong', links: [] },
  'default-gateway-manager': {
    id: '49fbec13-b365-4191-970d-0193dfc45cd3',
    type: 'Configuration::Provider::GatewayManager',
    links: ['default-gateway'],
  },
} as const satisfies Record<string, { id: Uuid; type: string; links: readonly string[] }>;

type DefaultName = keyof typeof defaults;

function configsFor(gatewayUrl: string): Partial<Record<DefaultName, JsonObject>> {
  const { protocol, host } = new URL(gatewayUrl);
  return {
    'nodejs-executor': { env: { public: { RUNTIME: 'nodejs' } } },
    'default-docker': { networks: [{ name: 'default' }] },
    'default-gateway': { external_protocol: protocol.replace(':', ''), env: { public: { PUBLIC_URL_VHOST_0: host } } },
  };
}

/** For the root organization (D-067, D-068), linked ones first. One with the same name and type counts as present (`idOf`). */
export function defaultProviders(
  gatewayUrl: string,
  idOf: (fixed: { id: Uuid; name: string }) => Uuid = ({ id }) => id,
): Draft[] {
  const configs = configsFor(gatewayUrl);
  // Object.entries forgets the key type of a const object.
  return (Object.entries(defaults) as [DefaultName, (typeof defaults)[DefaultName]][]).map(
    ([name, { id, type, links }]) => {
      const config = configs[name];
      const linked: Json[] = links.map((link) => ({ id: idOf({ id: defaults[link].id, name: link }) }));
      return {
        id,
        type,
        name,
        properties: {
          ...(config && { config }),
          environment_types: ['development', 'test', 'production'],
          linked_providers: linked,
        },
      };
    },
  );
}

/** Returns the default providers of a world, each with the existing provider that has its id, or its name at root. */
export function toDefaultsView(
  view: WorldView,
  gatewayUrl: string,
): { draft: Draft; found: StoredResource | undefined }[] {
  const find = (provider: { id: Uuid; name: string }) =>
    view.find(provider.id) ?? view.named('providers', provider.name, view.root.id)[0];
  const defaults = defaultProviders(gatewayUrl, (provider) => find(provider)?.id ?? provider.id);
  return defaults.map((draft) => ({ draft, found: find(draft) }));
}
