import { isScalar, LineCounter, parseAllDocuments, Scalar, type ScalarTag, YAMLSeq } from 'yaml';

/* What a definition means on a server, and how its reader has to get it for that meaning. */

export type Written = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Written =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);

/** A `!reference` to a part of the definition. */
export class Reference {
  readonly path: readonly string[];

  constructor(path: readonly unknown[]) {
    this.path = path.map(String);
  }

  toJSON(): object {
    return { [REFERENCE.tag]: this.path };
  }
}

class ReferenceNode extends YAMLSeq {
  override toJSON(_: unknown, context?: Parameters<YAMLSeq['toJSON']>[1]) {
    // Aliases of the node mean the reference, not the list that would be reported here.
    const values = super.toJSON(_, Object.assign({}, context, { onCreate: undefined }));
    // It consists of names, which are as they are written.
    return new Reference(this.items.map((item, at) => (isScalar(item) ? item.source : values[at]))) as never;
  }
}

const REFERENCE = { tag: '!reference', collection: 'seq', nodeClass: ReferenceNode } as const;
const MERGE: ScalarTag = {
  tag: 'tag:yaml.org,2002:merge',
  default: 'key',
  test: /^<<$/,
  resolve: (text) => Object.assign(new Scalar(Symbol(text)), { addToJSMap: merge }),
};
const NAME: ScalarTag = { tag: '!name', default: 'key', test: /^/, resolve: (text) => text };
const PLAIN: ScalarTag = { tag: '!plain', default: true, test: /^/, resolve: serverValue };
/** The reader allows more `_` in numbers than YAML 1.2 and the server. */
const READER_NUMBER: ScalarTag = {
  tag: '!number',
  default: true,
  test: /^[-+]?(?:0[box][\da-f_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.[\d_]+)(?:e[-+]?\d+)?)$/i,
  resolve: (text) => Number(text.replaceAll('_', '')),
};

const parsed = (text: string, lineCounter: LineCounter, isAsOnServer: boolean) =>
  parseAllDocuments(text, {
    lineCounter,
    customTags: (tags) => [REFERENCE, ...(isAsOnServer ? [MERGE, NAME, PLAIN] : [READER_NUMBER]), ...tags],
    uniqueKeys: false,
    merge: true,
    logLevel: 'error',
  });

/** The documents of a file as the server reads them. */
export const documentsIn = (text: string, lineCounter: LineCounter) => parsed(text, lineCounter, true);

/** Unlike in YAML's specification, the keys of a merge replace those above it. */
const merge: NonNullable<Scalar['addToJSMap']> = (context, map, value) => {
  const list = new YAMLSeq();
  list.items.push(value);
  const sources = list.toJSON(null, context).flat();
  if (!sources.every(isRecord)) throw new Error('Merge sources must be maps or map aliases');
  for (const source of sources.toReversed()) Object.defineProperties(map, Object.getOwnPropertyDescriptors(source));
};

/** Integers up to this are written without an exponent. */
const MAX_PLAIN = 1e16;

/** The value of a plain scalar on the server, which follows YAML 1.1 (Ruby's Psych), but `.inf` and `.nan` are texts. Throws for one that the server does not accept. */
function serverValue(text: string): string | number | boolean | null {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:yes|on|true)$/i.test(text)) return true;
  if (/^(?:no|off|false)$/i.test(text)) return false;
  if (/^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt\s]+\d{1,2}:\d\d:\d\d)/.test(text))
    throw new Error(`GitLab does not accept the date ${text}. Put it in quotation marks.`);
  const digits = text.replace(/[_,]/g, '');
  if (/^[-+]?(?:0b[01][01_,]*|0x[\da-fA-F][\da-fA-F_,]*|0[0-7_,]*|[1-9](?:[_,]?\d)*)$/.test(text)) {
    const size = BigInt(digits.replace(/^[-+]/, '').replace(/^0(?=[0-7])/, '0o'));
    const integer = digits.startsWith('-') ? -size : size;
    // The server has integers of any size.
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : String(integer);
  }
  if (/^[-+]?\d[\d_]*(?::[0-5]?\d){1,2}$/.test(text)) {
    // Hours and minutes, or hours, minutes and seconds, in seconds.
    const [hours = 0, minutes = 0, seconds = 0] = digits.split(':').map(Number);
    return hours * 3_600 + minutes * 60 + seconds;
  }
  if (!/^[-+]?(?:\d[\d_,]*\.\d*|\.\d+)(?:e[-+]\d+)?$/i.test(text)) return text;
  const number = Number(digits);
  return Number.isInteger(number) && Math.abs(number) < MAX_PLAIN ? `${number}.0` : number;
}

/**
 * The text by which the reader reads the documents of a file as the server does; undefined if that is the file's own.
 * @param include what the file includes here
 */
export function textForReader(text: string, documents: readonly unknown[], include: unknown): string | undefined {
  const last = documents.at(-1);
  if (!isRecord(last)) return undefined;
  const forReader = textOf([...documents.slice(0, -1), contentForReader(last, include)]);
  const isSame = forReader === textOf(parsed(text, new LineCounter(), false).map(contentOf));
  return isSame ? undefined : forReader;
}

export const contentOf = (document: ReturnType<typeof documentsIn>[number]): unknown =>
  document.toJS({ maxAliasCount: -1 });

/** JSON, in which only references are YAML. */
const textOf = (documents: readonly unknown[]) =>
  documents
    .map(asciiJson)
    .join('---\n')
    .replace(/\{"!reference":(\[(?:"(?:\\.|[^"\\])*",?)*\])\}/g, '!reference $1');

/** ASCII only, because YAML allows fewer unescaped characters than JSON. */
export function asciiJson(value: unknown): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped)}\n`;
}

const PARALLEL_JOB = /^(.+?)(?:(: \[.*\])| \d+\/\d+)$/;
/** Keywords of a job that the reader refuses. */
const UNKNOWN = /^(?:artifacts:(?:public|reports:(?:api|coverage)_fuzzing)|dast_configuration)$/;
/** Values of `inherit:default` that the reader refuses. */
const UNKNOWN_DEFAULTS: readonly unknown[] = ['hooks', 'id_tokens', 'identity'];
/** Keywords with the names of other jobs. */
const NEEDS = /(?:^|:)(?:needs|dependencies)(?::|$)/;

/**
 * Leaves out or replaces what the reader does not know: some keywords; in needs and dependencies the names of single parallel jobs, by that
 * of the whole job; the need of another pipeline, by none; and the rules of includes.
 */
function contentForReader(content: Written, include: unknown): Written {
  const read = (value: unknown, keys: readonly string[]): unknown => {
    const keyword = keywordOf(keys);
    if (typeof value === 'string' && NEEDS.test(keyword)) {
      const [, name, matrix] = PARALLEL_JOB.exec(value) ?? [];
      // Jobs of other files can have numbers, too.
      const isWhole = name !== undefined && (matrix || Object.hasOwn(content, name));
      return isWhole && !Object.hasOwn(content, value) ? name : value;
    }
    if (Array.isArray(value)) {
      const accepted = keyword === 'inherit:default' ? value.filter((name) => !UNKNOWN_DEFAULTS.includes(name)) : value;
      return value.length > 0 && accepted.length === 0 ? false : accepted.map((element) => read(element, keys));
    }
    if (!isRecord(value)) return value;
    const members = Object.entries(value).filter(([name]) => !UNKNOWN.test(keywordOf([...keys, name])));
    return Object.fromEntries(
      members.map(([name, part]) => {
        const isOfPipeline = name === 'needs' && isRecord(part) && 'pipeline' in part && !('job' in part);
        return [name, isOfPipeline ? [] : read(part, [...keys, name])];
      }),
    );
  };
  // The reader looks for them in the global variables, which have to exist then.
  const areInherited = Object.values(content).some((job) => Array.isArray(Object(Object(job).inherit).variables));
  return {
    ...Object(read(content, [])),
    ...(areInherited && (content.variables ?? null) === null && { variables: {} }),
    ...('include' in content && { include }),
  };
}

/** A keyword of a job; jobs and variables can be named like the keywords. */
const keywordOf = ([outermost, ...keywords]: readonly string[]) =>
  outermost === 'variables' || keywords.includes('variables') ? 'variables' : keywords.join(':');
