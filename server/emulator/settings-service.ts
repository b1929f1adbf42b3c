import type { Config, StartOptions } from '../config-schema.ts';
import { IN_MEMORY } from '../config-schema.ts';
import { settings, shownValue, valueAt } from '../config-settings.ts';
import type { ShownSetting } from '../contract/window.ts';
import type { SettingsService } from '../window/settings-routes.ts';
import { type Data, LEAD_CAPS, RUN_CAPS } from './data.ts';

export interface SettingsServiceOptions {
  config: Config;
  /** Where each setting came from, by its key. */
  origins: ReadonlyMap<string, string>;
  addresses(): Readonly<Record<string, string>>;
  data: Data;
}

/** What the window tells of how the platform was set up and of what it keeps. */
export function settingsService(options: SettingsServiceOptions): SettingsService {
  const { config, origins, addresses, data } = options;
  const { store, leads, results, scm, pipelines, keys, tokens, recorder, records } = data;
  return {
    addresses,
    folder: config.data === IN_MEMORY ? undefined : config.data,
    settings: () =>
      settings.map((setting) => ({
        key: setting.key,
        value: shownValue(setting, config) ?? null,
        ...originOf(origins.get(setting.key) ?? 'default'),
        description: setting.description,
        flag: setting.flag,
        env: setting.env,
        isSecret: setting.isSecret ?? false,
      })),
    stored: () => ({
      world: { items: store.world.resources.size },
      history: { maxItems: config.history.maxCommits, maxBytes: config.history.maxBytes },
      records: { items: recorder.invocations.size + recorder.exchanges.size, maxBytes: records.maxFileBytes },
      leads: { items: leads.size, maxItems: LEAD_CAPS.maxItems },
      results: { items: results.size },
      scm: { items: scm.size },
      pipelines: { items: pipelines.size, maxItems: RUN_CAPS.maxItems },
      credentials: { items: keys.size + tokens.size },
    }),
    memory: () => ({
      invocations: amountOf(recorder.invocations),
      requests: amountOf(recorder.exchanges),
      // What all that was recorded takes of it.
      records: { sizeBytes: records.memoryBytes, maxBytes: records.maxMemoryBytes },
      // The lines of each source.
      logs: { maxItems: config.limits.logLines },
    }),
  };
}

/** Where the settings of a platform that code has started came from. */
export function originsOf(options: StartOptions): ReadonlyMap<string, string> {
  return new Map(
    settings.map(({ key, path }) => [key, valueAt(options, path) === undefined ? 'default' : `option ${key}`]),
  );
}

function originOf(origin: string): Pick<ShownSetting, 'source' | 'origin'> {
  if (origin === 'default') return { source: 'default', origin };
  if (origin.startsWith('--')) return { source: 'flag', origin };
  if (origin.startsWith('TERRARIUM_')) return { source: 'environment', origin };
  return { source: origin.startsWith('option ') ? 'option' : 'file', origin };
}

function amountOf({ size, maxItems }: { size: number; maxItems: number }) {
  return { items: size, maxItems };
}
