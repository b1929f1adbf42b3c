import { FileCode2, GitCompareArrows } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { CodeEditor } from '../../components/code-editor.tsx';
import type { EditorProblem } from '../../components/editor-props.ts';
import { KeyValue } from '../../components/key-value.tsx';
import { State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { unsetVariablesIn } from './environment.ts';
import { faultPlaceOf, problemAt } from './fault-place.ts';
import { LinkBar, LinkDialog } from './link-bar.tsx';
import { type Run, runs } from './runs.ts';
import { useAncestors } from './use-ancestors.ts';
import type { CodeDraftState } from './use-code-draft.ts';
import type { useWorkbench } from './use-workbench.ts';

export interface CodeTabProps {
  lambda: PlatformRecord;
  draft: CodeDraftState;
  onRun(): void;
  /** The user wants to see the version that another user saved. */
  onCompare(): void;
  workbench: ReturnType<typeof useWorkbench>;
}

/** The lambda's code: to be edited here, or in a file that it follows. */
export function CodeTab({ lambda, draft, onRun, onCompare, workbench }: CodeTabProps) {
  const [isLinking, setLinking] = useState(false);
  const [{ line }] = useSearch();
  const link = workbench.state.data?.link;
  const lastRun = useValue(runs).get(lambda.id)?.[0];
  const problems = useFaults(lastRun, lambda.properties.code, draft.stored);
  if (isPackage(lambda)) return <PackageCode lambda={lambda} />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      {link ? (
        <LinkBar link={link} workbench={workbench} />
      ) : (
        <div className="flex min-h-9 items-center gap-2 border-b border-line px-4 py-1">
          {draft.isOutdated ? (
            <span role="alert" className="flex items-center gap-2 text-warn">
              Someone else saved other code. Your version is still here.
              <Button icon={GitCompareArrows} onPress={onCompare}>
                Compare
              </Button>
            </span>
          ) : (
            <span className="text-muted">Inline code, one file.</span>
          )}
          <span className="ml-auto flex">
            {draft.isDirty && !draft.isOutdated && (
              <Button look="quiet" onPress={draft.discard}>
                Discard changes
              </Button>
            )}
            <Button icon={FileCode2} look="quiet" needs="root" onPress={() => setLinking(true)}>
              Link to a file
            </Button>
          </span>
        </div>
      )}
      <UnsetVariables lambda={lambda} source={link ? draft.stored : draft.source} />
      <div className="min-h-0 flex-1">
        <CodeEditor
          label={`Code of ${lambda.name}`}
          value={link ? draft.stored : draft.source}
          {...(!link && { onChange: draft.edit })}
          language="javascript"
          isReadOnly={link !== undefined}
          onSubmit={onRun}
          problems={problems}
          line={line === undefined ? undefined : Number(line)}
        />
      </div>
      {isLinking && <LinkDialog workbench={workbench} isDirty={draft.isDirty} onClose={() => setLinking(false)} />}
    </div>
  );
}

/** The variables that would be undefined when the code runs, named before it runs. */
function UnsetVariables({ lambda, source }: { lambda: PlatformRecord; source: string }) {
  const ancestors = useAncestors(lambda).data;
  const names = useMemo(
    () => (ancestors ? unsetVariablesIn(source, lambda, ancestors) : []),
    [source, lambda, ancestors],
  );
  if (names.length === 0) return null;
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 border-b border-line px-4 py-1">
      <State is="warning">
        The code reads {names.length === 1 ? 'a variable that is' : 'variables that are'} not set:
      </State>
      <span className="mono">{names.join(', ')}</span>
      <PlaceLink to={{ screen: 'lambdas', id: lambda.id, search: { tab: 'env' } }}>
        Set {names.length === 1 ? 'it' : 'them'}
      </PlaceLink>
    </p>
  );
}

/** Is the code no text of the lambda's own? */
export function isPackage({ properties }: PlatformRecord): boolean {
  return String(properties.code_type).toLowerCase() === 'package';
}

const NONE: readonly EditorProblem[] = [];

/** The place of the last failure, as long as the stored code is the one that ran. */
function useFaults(run: Run | undefined, code: unknown, stored: string): readonly EditorProblem[] {
  const isCurrent = run !== undefined && run.code === code;
  return useMemo(() => {
    const faultLocation = isCurrent ? faultPlaceOf(run.result) : undefined;
    const problem =
      faultLocation && problemAt(stored, faultLocation, run?.result.outcome.message ?? 'The run failed here');
    return problem ? [problem] : NONE;
  }, [isCurrent, run, stored]);
}

/** Code that comes from elsewhere: where from, and what of it is run. It is not edited here. */
function PackageCode({ lambda }: { lambda: PlatformRecord }) {
  const { package_url, compressed, handler } = lambda.properties;
  const url = String(package_url);
  const isArchive = compressed === true || compressed === 'true';
  return (
    <div className="flex max-w-prose flex-col gap-3 p-4">
      <p>
        The code of this lambda is a package, which is downloaded when the lambda runs. To change it, update the package
        and run the lambda again.
      </p>
      <KeyValue
        nameWidth={150}
        rows={[
          { name: 'Package', value: url, copy: url, isMono: true },
          {
            name: 'Form',
            value: isArchive ? 'a zip archive, unpacked before it is run' : 'one file, run as it is',
          },
          { name: 'What is called', value: String(handler), isMono: true },
        ]}
      />
      <p className="text-muted">
        Address, form and handler are properties of the{' '}
        <PlaceLink to={{ screen: 'resources', id: lambda.id }}>resource</PlaceLink>. If the package is not available or
        has no such handler, the console shows the error after the next run.
      </p>
    </div>
  );
}
