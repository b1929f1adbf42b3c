export type EditorLanguage = 'json' | 'javascript' | 'text';

export interface EditorProblem {
  from: number;
  to: number;
  message: string;
}

export interface CodeEditorProps {
  /** Read aloud. */
  label: string;
  /** The text. A new text from outside replaces the current one and keeps the cursor where possible. */
  value: string;
  onChange?(value: string): void;
  language: EditorLanguage;
  isReadOnly?: boolean;
  /** Ctrl/Cmd-Enter. */
  onSubmit?(): void;
  /** The problems in the code, by offset in the text. The editor scrolls to new ones. */
  problems?: readonly EditorProblem[];
  line?: number | undefined;
  /** Looks through JSON whenever one pauses, e.g. for what a schema forbids. Another function has it looked through again. */
  lint?: ((text: string) => readonly EditorProblem[]) | undefined;
  /** CSS height; default: fills its parent. */
  height?: string;
}

export interface DiffEditorProps {
  label: string;
  before: string;
  after: string;
  language: EditorLanguage;
  /** One column with the changes inline, or side by side. Default `unified`. */
  layout?: 'unified' | 'sides';
}
