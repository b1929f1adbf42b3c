import { gateway } from '../gateway/declaration.ts';
import { devtools, mcp, outbound } from '../inspector/devtools/declaration.ts';
import { recorder } from '../inspector/recorder/declaration.ts';
import { crm } from '../mocks/crm/declaration.ts';
import { smtp } from '../mocks/mail/declaration.ts';
import { scm } from '../mocks/scm/declaration.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import {
  type Declaration,
  type LimitsOf,
  type ListenerNameOf,
  type LogDeclaration,
  type LogsOf,
  membersOf,
  port,
  type SettingsOf,
} from '../plugin/declaration.ts';
import { containers } from '../runtimes/containers/declaration.ts';
import { lambdas } from '../runtimes/lambdas/declaration.ts';
import { pipelines } from '../runtimes/pipelines/declaration.ts';
import { history } from '../services/history/declaration.ts';
import { publish } from '../services/publish/declaration.ts';
import { resources } from '../services/resources/declaration.ts';
import { security } from '../services/security/declaration.ts';

/** The listener of the control plane. */
const base = {
  settings: { basePort: port(4700, 'port of {base_url}: resources, security, logs') },
  listener: { title: 'base', noun: 'base' },
} satisfies Declaration;

/** Settings, listeners and logs of all features. */
export const declarations = {
  base,
  gateway,
  crm,
  scm,
  smtp,
  security,
  resources,
  history,
  publish,
  lambdas,
  containers,
  pipelines,
  recorder,
  devtools,
  outbound,
  mcp,
} satisfies Record<string, Declaration>;

export type Logs = LogsOf<typeof declarations>;
export type ListenerName = ListenerNameOf<typeof declarations>;
export type ListenerUrls = Readonly<Record<`${ListenerName}Url`, string>>;

/** The logs by the names of their files, without `.jsonl`. */
export const logs = membersOf<LogDeclaration<unknown>>(declarations, 'log', (declaration) => declaration.logs);

/** The settings by their names, as the features declare them. */
export const declaredSettings = Object.fromEntries(
  membersOf(declarations, 'setting', (declaration) => declaration.settings),
) as SettingsOf<typeof declarations>; // each by its own name

export const declaredLimits = Object.fromEntries(
  membersOf(declarations, 'limit', (declaration) => declaration.limits),
) as LimitsOf<typeof declarations>; // likewise

/** Every server that the platform has, with the setting that its port is, and the names of its address. */
export const listeners = Object.entries<Declaration>(declarations).flatMap(([key, { listener }]) => {
  const name = key as ListenerName; // of those that have one
  if (!listener) return [];
  const env = `TERRARIUM_${name.toUpperCase()}_URL`;
  return [
    { name, scheme: 'http', ...listener, port: `${name}Port`, url: `${name}Url`, flag: `--${name}-port`, env } as const,
  ];
});

/** The addresses of all listeners among other facts of a platform. */
export const urlsOf = (platform: ListenerUrls): ListenerUrls =>
  Object.fromEntries(listeners.map(({ url }) => [url, platform[url]])) as ListenerUrls; // has each of them

/** Topics of features that a reset of a test suite changes. */
export const resetTopics = Object.values<Declaration>(declarations).flatMap(({ logs, topics = [] }) =>
  Object.values(logs ?? {}).some(({ reset }) => reset) ? topics : [],
);

export const archivedIn = (opened: Readonly<Record<string, KeyedLog<object>>>) =>
  [...logs].flatMap(([name, { archive }]) => {
    const log = opened[name];
    if (!archive || !log) return [];
    return [{ name, log, ...(typeof archive === 'function' && { loadParser: archive }) }];
  });
