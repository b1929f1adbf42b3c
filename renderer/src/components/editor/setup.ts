import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { EditorLanguage } from '../editor-props.ts';

/** The tokens of tokens.css, so that both themes are one. */
const look = EditorView.theme({
  '&': {
    height: '100%',
    color: 'var(--text)',
    backgroundColor: 'var(--panel)',
    fontSize: '12px',
    fontVariantLigatures: 'none',
  },
  '&.cm-focused': { outline: 'none' },
  // Above the gutters, which would hide an outline.
  '&.cm-focused::after': {
    content: '""',
    position: 'absolute',
    inset: '0',
    border: '2px solid var(--focus)',
    pointerEvents: 'none',
    zIndex: '300',
  },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--faint)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent)',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
  '.cm-panels, .cm-tooltip': {
    backgroundColor: 'var(--overlay)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--panel)',
    backgroundImage: 'none',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
    fontSize: '12px',
    minHeight: '24px',
  },
  '.cm-panel.cm-search': { padding: '4px 6px' },
  '.cm-panel.cm-search label': { fontSize: '12px' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)', width: '24px', height: '24px' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)', outline: '2px solid var(--accent)' },
  '.cm-insertedLine, .cm-changedLine, &.cm-merge-b .cm-changedLine': {
    backgroundColor: 'color-mix(in srgb, var(--ok) 9%, transparent) !important',
  },
  '.cm-deletedChunk, .cm-deletedLine, &.cm-merge-a .cm-changedLine': {
    backgroundColor: 'color-mix(in srgb, var(--error) 9%, transparent) !important',
  },
  // A line below it: any more colour behind the text, and its contrast would be too low.
  '&.cm-merge-b .cm-changedText, .cm-changedText': {
    background: 'linear-gradient(var(--ok), var(--ok)) bottom/100% 2px no-repeat',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'linear-gradient(var(--error), var(--error)) bottom/100% 2px no-repeat',
  },
  // The colours of the grammar are too faint on these grounds.
  '.cm-changedText, .cm-changedText *, .cm-deletedText, .cm-deletedText *': { color: 'var(--text) !important' },
  '.cm-collapsedLines': { background: 'var(--raised)', color: 'var(--muted)' },
  // The default arrows are not in every font.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"···"' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--warn)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--running)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.modifier], color: 'var(--running)' },
  { tag: [tags.comment], color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--accent-strong)' },
  { tag: tags.invalid, color: 'var(--error)' },
]);

export function editorLook(language: EditorLanguage): Extension[] {
  const grammar = language === 'json' ? [json()] : language === 'javascript' ? [javascript()] : [];
  return [look, syntaxHighlighting(colours), EditorView.lineWrapping, ...grammar];
}

/**
 * Returns the shadow root that an editor lives in. A shadow tree adopts styles as objects, which the content security
 * policy allows, instead of writing them into a style element, which the policy blocks.
 */
export function rootIn(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: 'open' });
}
