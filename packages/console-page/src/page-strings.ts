import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'vite'
import { pageFolder } from './page-folders.ts'

export interface PageString {
  /** Path below the page's folder. */
  file: string
  /** 1-based. */
  line: number
  text: string
}

interface SyntaxNode {
  type: string
  start: number
  [field: string]: unknown
}

/**
 * Texts that the console can show: JSX text, and every string literal and template that has a capitalized word or a
 * space. A placeholder of a template is `{}`. Class names, imports and identifiers are left out.
 */
export function pageStrings(folder = pageFolder): PageString[] {
  return globSync('**/*.{ts,tsx}', { cwd: folder })
    .filter((file) => !/\.(test|fixture)\.tsx?$/.test(file))
    .toSorted()
    .flatMap((file) => stringsOf(file, readFileSync(path.join(folder, file), 'utf8')))
}

/** Strings of one source text. */
export function stringsOf(file: string, source: string): PageString[] {
  const found: PageString[] = []
  const add = (start: number, value: string): void => {
    const text = value.replaceAll(/\s+/g, ' ').trim()
    if (!isShown(text)) return
    found.push({ file, line: source.slice(0, start).split('\n').length, text })
  }
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (!isNode(node) || SKIPPED.has(node.type)) return
    if (node.type === 'JSXAttribute' && NOT_SHOWN.has(nameOf(node))) return
    if (node.type === 'JSXElement' || node.type === 'JSXFragment') add(node.start, jsxText(node))
    else if (node.type === 'Literal' && typeof node.value === 'string') add(node.start, node.value)
    else if (node.type === 'TemplateLiteral') add(node.start, templateText(node))
    for (const field of Object.values(node)) visit(field)
  }
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  visit(program)
  return found
}

const SKIPPED = new Set(['ImportDeclaration', 'ExportAllDeclaration', 'TSLiteralType', 'TemplateElement'])
const NOT_SHOWN = new Set([
  'className',
  'to',
  'from',
  'href',
  'd',
  'viewBox',
  'transform',
  'type',
  'id',
  'name',
  'htmlFor',
])

/** Labels start with a capital; other texts have a space. Names of screens and lists of class names are neither. */
function isShown(text: string): boolean {
  if (/^[A-Z]\w+Screen$/.test(text) || /^[a-z]+(-[a-z]+)*( [a-z]+-[a-z]+)+$/.test(text)) return false
  return /^[A-Z][a-z]/.test(text) || /[a-zA-Z.,:;!?)] [a-zA-Z({$]/.test(text)
}

/** Text between the tags of one element, with `{}` for everything that is computed. */
function jsxText({ children }: SyntaxNode): string {
  return (children as SyntaxNode[])
    .map((child) => {
      if (child.type === 'JSXText') return String(child.value)
      if (child.type !== 'JSXExpressionContainer') return ' '
      const expression = child.expression as SyntaxNode
      return expression.type === 'Literal' ? String(expression.value) : '{}'
    })
    .join('')
}

function templateText({ quasis }: SyntaxNode): string {
  return (quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('{}')
}

function nameOf({ name }: SyntaxNode): string {
  const named = name as { name: unknown }
  return typeof named.name === 'string' ? named.name : ''
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value
}
