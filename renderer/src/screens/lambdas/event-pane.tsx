import { Save, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { CodeEditor } from '../../components/code-editor.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { Select, TextField } from '../../components/fields.tsx';
import { NameDialog } from '../../components/name-dialog.tsx';
import { Segments } from '../../components/segments.tsx';
import { announce } from '../../components/toasts.tsx';
import { useSearch } from '../../url.ts';
import type { TestEvent, useWorkbench } from './use-workbench.ts';
import { payloadIn, WEB_FORM_EVENT, WEB_FORM_MEMBERS, withMember } from './web-form.ts';

const VIEWS = [
  { id: 'form', text: 'Form' },
  { id: 'json', text: 'JSON' },
];
const DRAFT = ' draft';

export interface EventPaneProps {
  event: string;
  /** Was it edited, or is it the default event? */
  isOwnEvent: boolean;
  onChange(event: string): void;
  onRun(): void;
  workbench: ReturnType<typeof useWorkbench>;
}

/** The test event: a form for the web form's payload, any JSON, or a saved event. */
export function EventPane({ event, isOwnEvent, onChange, onRun, workbench: { state, keepEvents } }: EventPaneProps) {
  const events = state.data?.events ?? [];
  const payload = payloadIn(event);
  const [{ event: name, eventAs }, change] = useSearch();
  // It stays while the text is temporarily not a valid form.
  const [firstView] = useState(payload ? 'form' : 'json');
  const view = eventAs !== undefined && VIEWS.some(({ id }) => id === eventAs) ? eventAs : firstView;
  const setName = (next: string | undefined) => change({ event: next });
  const [isNaming, setNaming] = useState(false);
  const chosen = events.find((namedEvent) => namedEvent.name === name);
  useNamedEvent(isOwnEvent, chosen, onChange);
  const isChanged = chosen !== undefined && chosen.body !== event;
  const choose = (id: string) => {
    const next = events.find((namedEvent) => namedEvent.name === id);
    setName(next?.name);
    if (next) onChange(next.body);
  };
  const keep = (as: string) => {
    const isNew = !events.some((namedEvent) => namedEvent.name === as);
    const next = { name: as, body: event };
    keepEvents.mutate(
      isNew ? [...events, next] : events.map((namedEvent) => (namedEvent.name === as ? next : namedEvent)),
      {
        onSuccess: () => {
          setName(as);
          setNaming(false);
          announce(`Event ${as} saved`);
        },
      },
    );
  };
  const forget = () => {
    keepEvents.mutate(events.filter((namedEvent) => namedEvent !== chosen));
    setName(undefined);
  };
  return (
    <section aria-label="Test event" className="flex min-h-0 flex-col border-r border-line">
      <div className="flex min-h-9 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <h3 className="eyebrow">Test event</h3>
        <Select
          label="Saved event"
          isLabelHidden
          options={[
            { id: DRAFT, text: events.length === 0 ? 'none saved' : 'not saved' },
            ...events.map((namedEvent) => ({
              id: namedEvent.name,
              text: namedEvent === chosen && isChanged ? `${namedEvent.name} (changed)` : namedEvent.name,
            })),
          ]}
          value={chosen?.name ?? DRAFT}
          onChange={choose}
          className="max-w-44"
        />
        {chosen && isChanged ? (
          <IconButton
            icon={Save}
            needs="lambda.invoke"
            label={`Save event ${chosen.name}`}
            onPress={() => keep(chosen.name)}
          />
        ) : (
          <IconButton
            icon={Save}
            needs="lambda.invoke"
            label="Save the event under a name"
            onPress={() => setNaming(true)}
          />
        )}
        {chosen && (
          <IconButton icon={Trash2} needs="lambda.invoke" label={`Delete event ${chosen.name}`} onPress={forget} />
        )}
        <span className="ml-auto">
          <Segments
            label="How the event is shown"
            segments={VIEWS}
            value={view}
            onChange={(next) => change({ eventAs: next })}
          />
        </span>
      </div>
      <FailureNote error={keepEvents.error} className="m-2" />
      <div className="min-h-0 flex-1 overflow-auto">
        {view === 'json' ? (
          <CodeEditor label="Test event as JSON" value={event} onChange={onChange} language="json" onSubmit={onRun} />
        ) : payload ? (
          <div className="grid grid-cols-2 gap-x-3 gap-y-2 p-3">
            {WEB_FORM_MEMBERS.map(({ name: member, label }) => (
              <TextField
                key={member}
                label={label}
                value={String(payload[member] ?? '')}
                onChange={(value) => onChange(withMember(event, member, value))}
              />
            ))}
          </div>
        ) : (
          <div className="flex flex-col items-start gap-2 p-3 text-muted">
            <p>
              This event is not a web form: it has no <code>payload</code>.
            </p>
            <Button onPress={() => onChange(WEB_FORM_EVENT)}>Replace it with a web form</Button>
          </div>
        )}
      </div>
      {isNaming && (
        <NameDialog
          title="Save the event"
          description="Stored on the platform, for all users who can run the lambda."
          existingNames={events.map((namedEvent) => namedEvent.name)}
          onName={keep}
          onClose={() => setNaming(false)}
        />
      )}
    </section>
  );
}

/** An address that names a saved event is opened with it, unless the user has edited an event before. */
function useNamedEvent(isOwnEvent: boolean, named: TestEvent | undefined, onChange: (event: string) => void): void {
  const isTaken = useRef(isOwnEvent);
  useEffect(() => {
    if (isTaken.current || !named) return;
    isTaken.current = true;
    onChange(named.body);
  }, [named, onChange]);
}
