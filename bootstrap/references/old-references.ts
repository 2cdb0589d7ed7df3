import { lineOf, type Passage } from './comments-of.ts'
import type { Finding } from './repository.ts'

/** References to documents that are not in the repository. */
const FORMS = [
  /(?<![\w/-])decisions\.md\b/gi,
  /(?<![\w/-])spec\.md\b/gi,
  /\bspec\s+\d+(?:\.\d+)*/gi,
  /\barchitecture\.md,?\s+(?:"|rule|section|money)/gi,
  /\b(?:rule\s+\d+\s+of\s+the\s+)?money\s+core\s+\d+/gi,
  /\brules?\s+\d+(?:\.\d+)?\s+of\s+the\s+money\s+core/gi,
  /\bcrash\s+matrix\b/gi,
  /\bsecurity\s+checklist\b/gi,
  /(?<![\w/.-])lexicon\.md\b/gi,
  /\bI\d+\s+to\s+I\d+\b/g,
]

/** Finds references in one of these forms. */
export function oldReferences(file: string, passage: Passage): Finding[] {
  return FORMS.flatMap((form) =>
    [...passage.text.matchAll(form)].map((match) => ({
      file,
      line: lineOf(passage, match.index),
      said: match[0].replaceAll(/\s+/g, ' '),
      why: 'it leads to no document of the repository',
    })),
  )
}
