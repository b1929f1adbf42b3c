// Writes the library's declarations as one file that imports no package, from the types in SOURCES and the settings' schema.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { createServer } from 'vite';
import { z } from 'zod';

/** Sources of the declarations; they import only each other and server/platform/config-schema.ts. */
const SOURCES = ['server/platform/running-platform.ts', 'server/library/api.ts'];
const OWN_IMPORTS = /^import type \{[^}]*\} from '\.[^']*(?:config-schema|running-platform)\.ts';\n/gm;

/** Writes dist/types/library.d.mts and .d.cts, for import and require: the same text. */
export async function buildTypes({ root }) {
  const texts = SOURCES.map((source) => declarationsOf(join(root, source)));
  const settings = await settingsType(root);
  const text = `${texts.join('\n')}\n${settings}\n${DISPOSABLE}\nexport declare const startEmulator: StartEmulator;\n`;
  const folder = join(root, 'dist', 'types');
  mkdirSync(folder, { recursive: true });
  for (const ending of ['d.mts', 'd.cts']) writeFileSync(join(folder, `library.${ending}`), text);
}

function declarationsOf(source) {
  const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(source, 'utf8'), {
    fileName: source,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true },
  });
  if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, FORMAT));
  const text = outputText.replace(OWN_IMPORTS, '');
  if (/^import /m.test(text)) throw new Error(`${source} imports what the declarations do not contain`);
  return text;
}

/** For projects whose `lib` lacks these types; TypeScript merges them with existing ones. */
const DISPOSABLE = `declare global {
    interface SymbolConstructor {
        readonly dispose: unique symbol;
        readonly asyncDispose: unique symbol;
    }
    interface Disposable {
        [Symbol.dispose](): void;
    }
    interface AsyncDisposable {
        [Symbol.asyncDispose](): PromiseLike<void>;
    }
}
`;

const FORMAT = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => '', getNewLine: () => '\n' };

async function settingsType(root) {
  const vite = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    server: { middlewareMode: true, ws: false },
  });
  try {
    const { configSchema, settingNotes } = await vite.ssrLoadModule('/server/platform/config-schema.ts');
    const schema = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any', metadata: settingNotes });
    return `/** Every setting; \`npx terrarium-emulator start --help\` tells the same of the command line. */\nexport interface StartOptions ${typeOf(schema)}\n`;
  } finally {
    await vite.close();
  }
}

/** The TypeScript type of a JSON Schema, with its descriptions as comments. */
function typeOf(schema, indent = '') {
  const { type, properties, items } = schema;
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (type === 'object' && properties) {
    const inner = `${indent}    `;
    const members = Object.entries(properties).map(([name, property]) => {
      const note = property.description ? `${inner}/** ${commentOf(property)} */\n` : '';
      return `${note}${inner}${name}?: ${typeOf(property, inner)} | undefined;\n`;
    });
    return `{\n${members.join('')}${indent}}`;
  }
  if (type === 'array') return `${typeOf(items)}[]`;
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'number') return type;
  throw new Error(`the declarations cannot express this setting: ${JSON.stringify(schema)}`);
}

function commentOf({ description }) {
  return `${description[0].toUpperCase()}${description.slice(1)}.`;
}
