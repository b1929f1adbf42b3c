import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { kindOf } from '../../api/resource-kinds.ts';
import type { TreeNode } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { EditorFrame } from './editor-frame.tsx';
import { PropertyForm } from './property-form.tsx';
import type { DraftState } from './use-draft.ts';
import type { Schema } from './use-type-schema.ts';

export interface FormTabProps {
  record: PlatformRecord;
  /** What it is below. */
  parent: TreeNode | undefined;
  schema: Schema;
  draft: DraftState;
  errors: readonly ErrorDetail[];
  refresh(): Promise<unknown>;
  onRefused(details: readonly ErrorDetail[]): void;
}

/** The resource as a form. */
export function FormTab({ record, parent, schema, draft, errors, refresh, onRefused }: FormTabProps) {
  const fault = draft.unreadable === undefined ? undefined : 'The JSON cannot be read yet: see there, or discard it.';
  return (
    <EditorFrame record={record} draft={draft} fault={fault} refresh={refresh} onRefused={onRefused}>
      <div className="p-4">
        <PropertyForm
          word={kindOf(record).word}
          subType={record.resource_type}
          place={parent}
          errors={errors}
          schema={schema}
          value={draft.mine}
          before={draft.base}
          onChange={draft.set}
        />
      </div>
    </EditorFrame>
  );
}
