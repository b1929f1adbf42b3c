import { useEffect, useMemo, useRef, useState } from 'react';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ApplyDialog } from './apply-dialog.tsx';
import { PropertyForm } from './property-form.tsx';
import { type Editable, editableOf, patchBetween } from './resource-patch.ts';
import { readOnlyIn, useTypeSchema } from './use-type-schema.ts';

/** The resource as a form or as JSON; changes are seen as a patch before they are applied. */
export function EditorTabs({ record, as }: { record: PlatformRecord; as: 'form' | 'json' }) {
  const schema = useTypeSchema(kindOf(record).schema);
  const readOnly = useMemo(() => readOnlyIn(schema), [schema]);
  const current = useMemo(() => editableOf(record, readOnly), [record, readOnly]);
  const [base, setBase] = useState(current);
  const [draft, setDraft] = useState(current);
  const [text, setText] = useState(() => printed(current));
  const [fault, setFault] = useState<string>();
  const [isApplying, setApplying] = useState(false);
  const patch = useMemo(() => patchBetween(base, draft), [base, draft]);

  const restart = (from: Editable) => {
    setBase(from);
    setDraft(from);
    setText(printed(from));
    setFault(undefined);
  };
  // The record changed on the server: follow, unless there is something to lose.
  const isDirty = useRef(false);
  isDirty.current = patch.length > 0 || fault !== undefined;
  useEffect(() => {
    if (isDirty.current) return;
    setBase(current);
    setDraft(current);
    setText(printed(current));
  }, [current]);
  const isOutdated = patch.length > 0 && printed(base) !== printed(current);

  const onText = (next: string) => {
    setText(next);
    try {
      setDraft(JSON.parse(next));
      setFault(undefined);
    } catch (thrown) {
      setFault(thrown instanceof Error ? thrown.message : String(thrown));
    }
  };

  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1 overflow-auto">
        {as === 'json' ? (
          <CodeEditor
            label={`${record.name} as JSON`}
            value={text}
            onChange={onText}
            language="json"
            onSubmit={() => setApplying(true)}
          />
        ) : (
          <PropertyForm schema={schema} value={draft} before={base} onChange={setDraft} />
        )}
      </div>
      <div className="flex min-h-11 items-center gap-2 border-t border-line bg-panel px-4 py-1.5">
        {isOutdated ? (
          <p className="flex-1 text-warn" role="status">
            Somebody has changed this resource since you began.{' '}
            <button type="button" className="link font-medium" onClick={() => restart(current)}>
              Take theirs
            </button>
          </p>
        ) : (
          <p className="flex-1 truncate text-muted">{fault ?? changesText(patch.length)}</p>
        )}
        <Button isDisabled={!isDirty.current} onPress={() => restart(current)}>
          Discard
        </Button>
        <Button look="primary" isDisabled={patch.length === 0 || fault !== undefined} onPress={() => setApplying(true)}>
          Review {patch.length > 0 ? changesText(patch.length) : 'changes'}
        </Button>
      </div>
      {isApplying && patch.length > 0 && (
        <ApplyDialog
          record={record}
          before={base}
          after={draft}
          patch={patch}
          onClose={() => setApplying(false)}
          onApplied={() => {
            setApplying(false);
            setBase(draft);
          }}
        />
      )}
    </div>
  );
}

function changesText(count: number): string {
  return count === 0 ? 'No changes' : count === 1 ? '1 change' : `${count} changes`;
}

const printed = (value: Editable) => JSON.stringify(value, null, 2);
