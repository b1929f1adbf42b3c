import { Bug, Play, Save } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { Button } from '../../parts/button.tsx';
import { Badge } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { CodeTab } from './code-tab.tsx';
import { sourceOf } from './code-text.ts';
import { ConsolePane } from './console-pane.tsx';
import { DebugTab } from './debug-tab.tsx';
import { EndpointsTab } from './endpoints-tab.tsx';
import { EnvironmentTab } from './environment-tab.tsx';
import { EventPane } from './event-pane.tsx';
import { keepEvent, keptEvent } from './kept-event.ts';
import { SaveDialog } from './save-dialog.tsx';
import { useRun } from './use-run.ts';
import { useWorkbench } from './use-workbench.ts';
import { WEB_FORM } from './web-form.ts';

/** Code, an event to try it with, and what came of it. Ctrl/Cmd-Enter runs, Ctrl/Cmd-S saves. */
export function Workbench({ lambda }: { lambda: PlatformRecord }) {
  const { properties } = lambda;
  const [{ tab }, change] = useSearch();
  const workbench = useWorkbench(lambda.id);
  const [event, setEvent] = useState(() => keptEvent(lambda.id) ?? (isWebForm(properties.env) ? WEB_FORM : '{}'));
  const [isReviewing, setReviewing] = useState<'save' | 'run'>();
  const draft = useDraft(properties.code);
  const link = workbench.state.data?.link;
  const debug = workbench.state.data?.debug;
  const isInline = String(properties.code_type).toLowerCase() !== 'package';
  const isDirty = isInline && link === undefined && draft.isDirty;
  const running = useRun(lambda.id, debug !== undefined);

  const runNow = () => {
    keepEvent(lambda.id, event);
    if (!running.isPending) running.mutate(event);
  };
  const run = () => (isDirty ? setReviewing('run') : runNow());
  const save = () => isDirty && setReviewing('save');
  useKeys([
    { keys: 'mod+enter', does: 'Run the lambda', run },
    { keys: 'mod+s', does: 'Save the code', run: save },
  ]);

  const tabs = [
    {
      id: 'code',
      title: isDirty ? 'Code (changed)' : 'Code',
      content: (
        <CodeTab
          lambda={lambda}
          source={link ? draft.stored : draft.source}
          onChange={draft.edit}
          onRun={run}
          isOvertaken={draft.isOvertaken}
          onTakeOver={draft.takeOver}
          workbench={workbench}
        />
      ),
    },
    { id: 'env', title: 'Environment', content: <EnvironmentTab lambda={lambda} /> },
    { id: 'endpoints', title: 'Endpoints', content: <EndpointsTab lambda={lambda} event={event} /> },
    {
      id: 'debug',
      title: debug ? 'Debug (on)' : 'Debug',
      content: <DebugTab name={lambda.name} workbench={workbench} />,
    },
  ];
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="truncate text-[14px]">{lambda.name}</h2>
        <Badge>{String(properties.runtime)}</Badge>
        <Badge>handler {String(properties.handler)}</Badge>
        <span className="ml-auto flex items-center gap-2">
          <PlaceLink to={{ screen: 'invocations', search: { q: `lambda:${lambda.id}` } }}>Invocations</PlaceLink>
          <PlaceLink to={{ screen: 'resources', id: lambda.id }}>Resource</PlaceLink>
          <Button icon={Save} isDisabled={!isDirty} onPress={save}>
            Save
          </Button>
          <Button icon={debug ? Bug : Play} look="primary" isPending={running.isPending} onPress={run}>
            {running.isPending ? 'Running ...' : isDirty ? 'Save and run' : 'Run'}
          </Button>
        </span>
      </div>
      <div className="flex min-h-0 flex-[3] flex-col border-b border-line">
        <Tabs
          label="Parts of the lambda"
          tabs={tabs}
          value={tab ?? 'code'}
          onChange={(next) => change({ tab: next === 'code' ? undefined : next })}
        />
      </div>
      <div className="grid min-h-0 flex-[2] grid-cols-2 grid-rows-[minmax(0,1fr)]">
        <EventPane event={event} onChange={setEvent} onRun={run} workbench={workbench} />
        <ConsolePane
          lambdaId={lambda.id}
          error={running.error}
          waitsFor={running.isPending ? (debug ? 'running; it may stand at a breakpoint' : 'running') : undefined}
        />
      </div>
      {isReviewing && (
        <SaveDialog
          lambda={lambda}
          base={draft.base}
          source={draft.source}
          isRun={isReviewing === 'run'}
          onClose={() => setReviewing(undefined)}
          onSaved={() => {
            const isRun = isReviewing === 'run';
            setReviewing(undefined);
            if (isRun) runNow();
          }}
        />
      )}
    </div>
  );
}

/**
 * Code that is being edited, and what it began from. While there is nothing to lose it follows what is stored; else what somebody
 * else saves is only told of.
 */
function useDraft(code: unknown) {
  const [base, setBase] = useState(code);
  const [source, setSource] = useState(() => sourceOf(code));
  const isDirty = source !== sourceOf(base);
  const isOther = code !== base;
  const takeOver = () => {
    setBase(code);
    setSource(sourceOf(code));
  };
  useEffect(() => {
    // What is stored is what one has written: somebody else saved the same, or it was oneself.
    if (isOther && (!isDirty || source === sourceOf(code))) {
      setBase(code);
      setSource(sourceOf(code));
    }
  }, [isOther, isDirty, source, code]);
  return {
    base,
    source,
    stored: sourceOf(code),
    isDirty,
    isOvertaken: isOther && isDirty && source !== sourceOf(code),
    edit: setSource,
    takeOver,
  };
}

function isWebForm(env: unknown): boolean {
  return typeof env === 'object' && env !== null && 'CRM_OID' in env;
}
