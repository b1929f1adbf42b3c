import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, indentOnInput } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Annotation, EditorState, StateEffect, Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type ViewUpdate } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { CodeEditorProps, EditorProblem } from '../editor-props.ts';
import { editorLook, rootIn } from './setup.ts';

/** How long one has to pause before JSON is checked. */
const LINT_DELAY_MS = 300;

/** CodeMirror as a component; to be loaded through CodeEditor. Tab leaves it, as it leaves every field. */
export function CodeMirror(props: CodeEditorProps) {
  const { label, value, language, isReadOnly = false, problems, lint, height = '100%' } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (!place.current) return undefined;
    const submit = () => {
      latest.current.onSubmit?.();
      return latest.current.onSubmit !== undefined;
    };
    const root = rootIn(place.current);
    const editor = new EditorView({
      parent: root,
      root,
      doc: latest.current.value,
      extensions: [
        keymap.of([{ key: 'Mod-Enter', run: submit }, ...closeBracketsKeymap, ...historyKeymap, ...defaultKeymap]),
        history(),
        lineNumbers(),
        foldGutter(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        editorLook(language),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorState.readOnly.of(isReadOnly),
        language === 'json' && !isReadOnly
          ? [
              linter((view) => [...lintJson(view), ...diagnosticsOf(view, latest.current)], {
                delay: LINT_DELAY_MS,
                needsRefresh: ({ transactions }) =>
                  transactions.some(({ effects }) => effects.some((effect) => effect.is(lookAgain))),
              }),
              lintGutter(),
            ]
          : language === 'javascript'
            ? lintGutter()
            : [],
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || isFromOutside(update)) return;
          // At once: what is typed and sent in one breath is sent as typed, and the page never hands the editor a text that is
          // older than the editor's own.
          flushSync(() => latest.current.onChange?.(update.state.doc.toString()));
        }),
      ],
    });
    view.current = editor;
    return () => {
      view.current = undefined;
      editor.destroy();
    };
  }, [label, language, isReadOnly]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const anchor = Math.min(editor.state.selection.main.anchor, value.length);
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      selection: { anchor },
      annotations: [Transaction.addToHistory.of(false), fromOutside.of(true)],
    });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !(problems || lint)) return;
    // Where there is a linter of its own it gives both; else it would wipe away what is set here.
    if (language === 'json' && !isReadOnly) editor.dispatch({ effects: lookAgain.of(null) });
    else editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor, { problems: problems ?? [] })));
    const [first] = problems ?? [];
    if (first && latest.current.revealsProblems) {
      const at = Math.min(first.from, editor.state.doc.length);
      editor.dispatch({ effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    }
  }, [problems, lint, language, isReadOnly]);

  return <div ref={place} className="min-h-0 overflow-hidden" style={{ height }} />;
}

/** The problems from outside, and those that are found in the text as it is now. */
function diagnosticsOf({ state }: EditorView, props: Pick<CodeEditorProps, 'problems' | 'lint'>): Diagnostic[] {
  const end = state.doc.length;
  const found: readonly EditorProblem[] = [...(props.problems ?? []), ...(props.lint?.(state.doc.toString()) ?? [])];
  return found.map(({ from, to, message }) => ({
    from: Math.min(from, end),
    to: Math.min(to, end),
    message,
    severity: 'error',
  }));
}

/** Marks a text that the page gave: the page knows it. */
const fromOutside = Annotation.define<boolean>();
const isFromOutside = ({ transactions }: ViewUpdate) => transactions.some((one) => one.annotation(fromOutside));

const parseJson = jsonParseLinter();
/** What has to be marked has changed, though the text has not. */
const lookAgain = StateEffect.define<null>();

function lintJson(editor: EditorView) {
  return editor.state.doc.length === 0 ? [] : parseJson(editor);
}
