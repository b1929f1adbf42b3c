import type { SettingView } from '../api/routes/window.ts';
import type { KeptAmount, SettingsService } from '../inspector/devtools/settings-routes.ts';
import type { Recorder } from '../inspector/recorder/recorder.ts';
import type { RecordLogs } from '../storage/records/record-logs.ts';
import { type Config, type StartOptions, settings, toValueView, valueAt } from './config-schema.ts';
import type { Data } from './data.ts';
import { logs } from './declarations.ts';

const MIB = 1024 * 1024;

export interface SettingsServiceOptions {
  config: Config;
  /** The source of each setting, by its key. */
  origins: ReadonlyMap<string, string>;
  addresses(): Readonly<Record<string, string>>;
  data: Data;
  recorded: { recorder: Recorder; records: RecordLogs };
}

/** The configuration of the platform and the stored data, for the window. */
export async function settingsService(options: SettingsServiceOptions): Promise<SettingsService> {
  const { config, origins, addresses, data } = options;
  const { store } = data;
  const { recorder, records } = options.recorded;
  const { MAX_SNAPSHOTS } = await import('../storage/world/named-snapshots.ts');
  return {
    addresses,
    folder: data.folder === undefined ? undefined : config.data,
    settings: () =>
      settings.map((setting) => ({
        key: setting.key,
        value: toValueView(setting, config) ?? null,
        ...originOf(origins.get(setting.key) ?? 'default'),
        description: setting.description,
        flag: setting.flag,
        env: setting.env,
        isSecret: setting.isSecret ?? false,
      })),
    stored: () => ({
      world: { items: store.world.resources.size },
      history: { maxItems: config.history.maxCommits, maxBytes: config.history.maxBytes },
      snapshots: { maxItems: MAX_SNAPSHOTS },
      records: { items: recorder.invocations.size + recorder.exchanges.size, maxBytes: records.maxFileBytes },
      registry: { maxBytes: config.limits.registryMegabytes * MIB },
      artifacts: { maxBytes: config.limits.artifactMegabytes * MIB },
      ...storedIn(data.logs),
    }),
    async otherFolders() {
      const { storageRoot } = await import('../runtimes/pipelines/run-folder.ts');
      const artifacts = storageRoot();
      return artifacts === undefined ? {} : { artifacts };
    },
    partOf: (name) => logs.get(name.replace(/\.jsonl$/, ''))?.part,
    memory: () => ({
      invocations: amountOf(recorder.invocations),
      requests: amountOf(recorder.exchanges),
      // The part that records use.
      records: { sizeBytes: records.memoryBytes, maxBytes: records.maxMemoryBytes },
      // The lines of each source.
      logs: { maxItems: config.limits.logLines },
    }),
  };
}

/** Returns the source of each setting of a platform that code has started. */
export function originsOf(options: StartOptions): ReadonlyMap<string, string> {
  return new Map(
    settings.map(({ key, path }) => [key, valueAt(options, path) === undefined ? 'default' : `option ${key}`]),
  );
}

function originOf(origin: string): Pick<SettingView, 'source' | 'origin'> {
  if (origin === 'default') return { source: 'default', origin };
  if (origin.startsWith('--')) return { source: 'flag', origin };
  if (origin.startsWith('TERRARIUM_')) return { source: 'environment', origin };
  return { source: origin.startsWith('option ') ? 'option' : 'file', origin };
}

/** Returns the amount that each part has stored in all its logs. */
function storedIn(opened: Readonly<Record<string, { size: number }>>): Record<string, KeptAmount> {
  const amounts: Record<string, KeptAmount> = {};
  for (const [name, { part, caps, isUncounted }] of logs) {
    if (isUncounted) continue;
    const { items = 0, maxItems = 0, maxBytes = 0 } = amounts[part] ?? {};
    const cap = caps && { maxItems: maxItems + caps.maxItems, maxBytes: maxBytes + caps.maxBytes };
    amounts[part] = { items: items + (opened[name]?.size ?? 0), ...cap };
  }
  return amounts;
}

function amountOf({ size, maxItems }: { size: number; maxItems: number }) {
  return { items: size, maxItems };
}
