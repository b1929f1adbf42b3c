import { Copy } from '../../components/copy.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { readableCode } from '../lambdas/code-text.ts';
import type { WorldOperation } from './history-answers.ts';

export interface PatchListProps {
  ops: readonly WorldOperation[];
  /** The path of a resource by its id, where there are several. */
  pathOf?: (id: string) => string | undefined;
}

/** Longest value that is shown next to its operation; longer ones are shown below it. */
const SHORT_CHARS = 90;
/** Operations that are drawn at once; a commit may have thousands. */
const MAX_SHOWN = 300;
const WORLD_PATH = /^\/resources\/([^/]+)(.*)$/s;
const COLOURS: Readonly<Record<string, string>> = { add: 'text-ok', remove: 'text-error' };

/** Operations of a JSON Patch, one a line; the whole patch can be copied. */
export function PatchList({ ops, pathOf }: PatchListProps) {
  return (
    <div className="relative">
      <ul aria-label="Operations" className="py-1 pr-9 pl-3">
        {ops.slice(0, MAX_SHOWN).map((operation, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: operations have their place and nothing else
          <PatchLine key={index} operation={operation} pathOf={pathOf} />
        ))}
      </ul>
      {ops.length > MAX_SHOWN && (
        <p className="px-3 pb-2 text-muted">and {(ops.length - MAX_SHOWN).toLocaleString('en')} more; copy them all.</p>
      )}
      <Copy text={JSON.stringify(ops, null, 2)} subject="patch" className="absolute top-1 right-1.5" />
    </div>
  );
}

function PatchLine({ operation, pathOf }: { operation: WorldOperation; pathOf: PatchListProps['pathOf'] }) {
  const { op, path, value } = operation;
  const [, id = '', pointer = path] = WORLD_PATH.exec(path) ?? [];
  const readableValue = readable(pointer, value);
  const text = readableValue === undefined ? '' : JSON.stringify(readableValue);
  const isCode = pointer === CODE && typeof readableValue === 'string';
  return (
    <li className="mono py-0.5">
      <span className="flex items-baseline gap-2">
        <span className={`w-14 shrink-0 ${COLOURS[op] ?? 'text-running'}`}>{op}</span>
        <span className="min-w-0 break-all">
          {pathOf && <span className="text-muted">{pathOf(id) ?? id} </span>}
          {pointer || (pathOf ? '' : 'the whole record')}
          {text.length <= SHORT_CHARS && <span className="text-muted"> {text}</span>}
        </span>
      </span>
      {text.length > SHORT_CHARS && (
        <div className="mt-1 mb-1.5 ml-16 max-h-80 overflow-auto rounded-md border border-line">
          {isCode ? (
            <pre className="p-2 whitespace-pre-wrap">{readableValue}</pre>
          ) : (
            <JsonView value={readableValue} subject="value" />
          )}
        </div>
      )}
    </li>
  );
}

const CODE = '/properties/code';

/** The value with decoded code: a patch contains it as base64. */
function readable(pointer: string, value: unknown): unknown {
  if (pointer === CODE) return readableCode(value);
  const record = Object(value);
  if (pointer !== '' || typeof record.properties?.code !== 'string') return value;
  return { ...record, properties: { ...record.properties, code: readableCode(record.properties.code) } };
}
