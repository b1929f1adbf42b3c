import { Check, X } from 'lucide-react';
import type { publishingRoutes } from '../../../../server/api/routes/publishing.ts';
import type { AnswerOf } from '../../../../server/api/routes/route.ts';
import { Switch } from '../../components/fields.tsx';
import { Badge } from '../../components/state.tsx';
import { toggled } from '../../toggled.ts';

type Plan = AnswerOf<typeof publishingRoutes.planPublishing>;

interface PublishPlanProps {
  plan: Plan;
  /** Ids of the steps that may overwrite. */
  agreed: ReadonlySet<string>;
  onAgree(agreed: ReadonlySet<string>): void;
  isUnticked: boolean;
  onUnticked(isUnticked: boolean): void;
}

const TONES = { create: 'ok', update: 'warning', unchanged: 'plain' } as const;
const LINES: Readonly<Record<string, string>> = { '+': 'bg-accent-soft', '-': 'bg-error-soft' };

/** The planned steps, and the checks before them. */
export function PublishPlan({ plan, agreed, onAgree, isUnticked, onUnticked }: PublishPlanProps) {
  return (
    <div className="mt-3">
      <p className="mono break-all text-muted">
        {plan.from} → {plan.to}
      </p>
      {plan.checks.length > 0 && (
        <>
          <h3 className="mt-3 font-medium">Before the push</h3>
          <ul aria-label="Check list">
            {plan.checks.map(({ name, isGood, sentence }) => (
              <li key={name} className="flex items-start gap-2 py-0.5">
                {isGood ? (
                  <Check aria-label="yes" size={14} className="mt-0.5 shrink-0 text-ok" />
                ) : (
                  <X aria-label="no" size={14} className="mt-0.5 shrink-0 text-error" />
                )}
                <span>
                  <span className="font-medium">{name}</span>: {sentence}
                </span>
              </li>
            ))}
          </ul>
          {plan.checks.some(({ isGood }) => !isGood) && (
            <Switch isSelected={isUnticked} onChange={onUnticked}>
              Push anyway
            </Switch>
          )}
        </>
      )}
      <h3 className="mt-3 font-medium">Changes</h3>
      <ul aria-label="Steps">
        {plan.steps.map(({ id, action, diff, conflict, missing }) => (
          <li key={id} className="border-b border-line/60 py-1 last:border-0">
            <div className="flex flex-wrap items-center gap-2">
              <span>{id}</span>
              <Badge tone={TONES[action]}>{action}</Badge>
              {missing !== undefined && <span className="text-error">needs {missing}</span>}
              {conflict !== undefined && (
                <>
                  <span className="text-error">Conflict: {conflict}.</span>
                  <Switch isSelected={agreed.has(id)} onChange={(isAgreed) => onAgree(toggled(agreed, id, isAgreed))}>
                    Overwrite it
                  </Switch>
                </>
              )}
            </div>
            {diff.length > 0 && (
              <details open={action === 'update'}>
                <summary className="min-h-6 cursor-pointer text-muted">Difference</summary>
                <pre className="mono max-h-64 overflow-auto rounded-md border border-line p-2">
                  {diff.map((line, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
                    <div key={at} className={LINES[line[0] ?? ''] ?? ''}>
                      {line}
                    </div>
                  ))}
                </pre>
              </details>
            )}
          </li>
        ))}
      </ul>
      {plan.left.map((sentence) => (
        <p key={sentence} className="text-muted">
          Not copied: {sentence}.
        </p>
      ))}
    </div>
  );
}
