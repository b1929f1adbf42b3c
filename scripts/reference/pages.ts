import { errorCodes } from '../../server/model/error-codes.ts';
import { KEYWORDS } from '../../server/runtimes/pipelines/keywords.ts';
import { commandLine } from './command-line.ts';
import { windowKeys } from './keys.ts';
import { code, table } from './markdown.ts';
import { inspectRoutes, notEmulated, storedOnly, supportedTypes } from './routes.ts';
import { settingsSchema, worldSchema } from './schemas.ts';
import { allLimits, allSettings } from './settings.ts';

const REGION = /<!-- generated: ([\w-]+) -->\n[\s\S]*?<!-- end of generated -->/g;

/** Generators of the text between the marks of each name in the pages of `docs/reference`. */
const REGIONS: Readonly<Record<string, () => string | Promise<string>>> = {
  'command-line': commandLine,
  settings: allSettings,
  limits: allLimits,
  'error-codes': allErrorCodes,
  types: supportedTypes,
  'not-emulated': notEmulated,
  'stored-only': storedOnly,
  keys: windowKeys,
  'inspect-api': inspectRoutes,
  'pipeline-keywords': pipelineKeywords,
};

function allErrorCodes(): string {
  const rows = Object.entries(errorCodes).map(([name, { status, meaning }]) => [code(name), String(status), meaning]);
  return table(['reason', 'status', 'meaning'], rows);
}

/** States of keywords that are rejected in some jobs only. */
const PARTIAL_STATES: Readonly<Record<string, string>> = { services: 'supported; rejected in jobs without an image' };

/** Returns a table of the supported pipeline keywords and their differences from GitLab. */
function pipelineKeywords(): string {
  const rows = KEYWORDS.map(({ name, state, what: difference = '' }) => [
    code(name),
    PARTIAL_STATES[name] ?? (state === 'refused' ? 'rejected' : state),
    difference,
  ]);
  return table(['keyword', 'state', 'difference'], rows);
}

/** Pages with generated parts. */
export const PAGES = [
  'docs/reference/cli/index.md',
  'docs/reference/settings.md',
  'docs/reference/limits.md',
  'docs/reference/error-codes.md',
  'docs/reference/supported-features.md',
  'docs/reference/window.md',
  'docs/reference/inspect-api.md',
  'docs/reference/pipeline-keywords.md',
];

/** Files that are generated as a whole. */
export const FILES: Readonly<Record<string, () => string>> = {
  'schemas/terrarium.schema.json': () => jsonText(settingsSchema()),
  'schemas/world.schema.json': () => jsonText(worldSchema()),
};

function jsonText(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** The text of a page with its generated parts as they must be. */
export async function renewed(text: string): Promise<string> {
  const names = [...text.matchAll(REGION)].map(([, name = '']) => name);
  const parts = new Map<string, string>();
  for (const name of names) {
    const make = REGIONS[name];
    if (!make) throw new Error(`no generator is named '${name}'; there are ${Object.keys(REGIONS).join(', ')}`);
    parts.set(name, await make());
  }
  return text.replace(
    REGION,
    (_, name: string) => `<!-- generated: ${name} -->\n\n${parts.get(name)}\n\n<!-- end of generated -->`,
  );
}

/** Names of the generated parts of a page. */
export function regionsIn(text: string): string[] {
  return [...text.matchAll(REGION)].map(([, name = '']) => name);
}

export const REGION_NAMES = Object.keys(REGIONS);
