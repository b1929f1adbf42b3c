import { Bug, Play, Save } from 'lucide-react';
import { useState } from 'react';
import { memberOf } from '../../../../server/model/json.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { storedText, storeText } from '../../browser-storage.ts';
import { useHasDraft } from '../../draft-store.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Badge } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { CodeTab, isPackage } from './code-tab.tsx';
import { ConsolePane } from './console-pane.tsx';
import { DebugTab } from './debug-tab.tsx';
import { variableDrafts } from './drafts.ts';
import { EndpointsTab } from './endpoints-tab.tsx';
import { EnvironmentTab } from './environment-tab.tsx';
import { EventPane } from './event-pane.tsx';
import { SaveCodeDialog } from './save-dialog.tsx';
import { type CodeDraftState, useCodeDraft } from './use-code-draft.ts';
import { useRun } from './use-run.ts';
import { useWorkbench } from './use-workbench.ts';
import { WEB_FORM_EVENT } from './web-form.ts';

/** Code, an event to try it with, and what came of it. Ctrl/Cmd-Enter runs, Ctrl/Cmd-S saves. */
export function Workbench({ lambda }: { lambda: PlatformRecord }) {
  const { properties } = lambda;
  const [{ tab }, change] = useSearch();
  const workbench = useWorkbench(lambda.id);
  // What was last being edited in this browser; named events are kept by the platform.
  const eventPlace = `terrarium.event.${lambda.id}`;
  const [event, setEvent] = useState(
    () => storedText(eventPlace) ?? (memberOf(properties.env, 'CRM_OID') === undefined ? '{}' : WEB_FORM_EVENT),
  );
  const [isReviewing, setReviewing] = useState<'save' | 'run' | 'compare'>();
  const draft = useCodeDraft(lambda.id, properties.code);
  const link = workbench.state.data?.link;
  const { debug, schedule } = workbench.state.data ?? {};
  const isDirty = !isPackage(lambda) && link === undefined && draft.isDirty;
  const running = useRun(lambda.id, debug !== undefined);

  const changeEvent = (next: string) => {
    setEvent(next);
    storeText(eventPlace, next);
  };
  const runNow = (code = properties.code) => {
    if (!running.isPending) running.mutate({ event, code });
  };
  // What somebody else has saved meanwhile is looked at first.
  const review = (change: 'save' | 'run') => setReviewing(draft.isOvertaken ? 'compare' : change);
  const run = () => (isDirty ? review('run') : runNow());
  const save = () => isDirty && review('save');
  useKeys([
    { keys: 'mod+enter', does: 'Run the lambda', run },
    { keys: 'mod+s', does: 'Save the code', run: save },
  ]);

  const isEnvChanged = useHasDraft(variableDrafts, lambda.id);
  const tabs = [
    {
      id: 'code',
      title: isDirty ? 'Code (changed)' : 'Code',
      content: (
        <CodeTab
          lambda={lambda}
          draft={draft}
          onRun={run}
          onCompare={() => setReviewing('compare')}
          workbench={workbench}
        />
      ),
    },
    {
      id: 'env',
      title: isEnvChanged ? 'Environment (changed)' : 'Environment',
      content: <EnvironmentTab lambda={lambda} />,
    },
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
        {schedule && (
          <span className="text-muted">
            {schedule.nextAt ? (
              <>
                runs next <Time at={schedule.nextAt} as="day" />
              </>
            ) : (
              'not run by the clock: lambdas.periodic is off'
            )}
          </span>
        )}
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
        <EventPane
          event={event}
          isOwnEvent={storedText(eventPlace) !== undefined}
          onChange={changeEvent}
          onRun={run}
          workbench={workbench}
        />
        <ConsolePane
          lambdaId={lambda.id}
          code={properties.code}
          error={running.error}
          waitsFor={running.isPending ? (debug ? 'running; it may stand at a breakpoint' : 'running') : undefined}
        />
      </div>
      {isReviewing === 'compare' && (
        <OvertakenDialog name={lambda.name} draft={draft} onClose={() => setReviewing(undefined)} />
      )}
      {(isReviewing === 'save' || isReviewing === 'run') && (
        <SaveCodeDialog
          lambda={lambda}
          draft={draft}
          isRun={isReviewing === 'run'}
          onClose={() => setReviewing(undefined)}
          onSaved={(code) => {
            const isRun = isReviewing === 'run';
            setReviewing(undefined);
            if (isRun) runNow(code);
          }}
        />
      )}
    </div>
  );
}

/** What somebody else has saved beside what one has written: whose holds? Nothing is saved here. */
function OvertakenDialog({ name, draft, onClose }: { name: string; draft: CodeDraftState; onClose(): void }) {
  const settle = (change: () => void) => () => {
    change();
    onClose();
  };
  return (
    <Dialog
      title={`The code of ${name} was changed twice`}
      onClose={onClose}
      width="large"
      closing="Decide later"
      foot={
        <Button look="danger" onPress={settle(draft.discard)}>
          Discard mine, show theirs
        </Button>
      }
      action="Keep mine"
      onAction={settle(() => draft.rebase())}
    >
      <p className="mb-3 text-muted">
        From what somebody else has saved since you began, to what you have written. If you keep yours it goes on from
        theirs: you see once more what it changes before you save it.
      </p>
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="From theirs to mine" before={draft.stored} after={draft.source} language="javascript" />
      </div>
    </Dialog>
  );
}
