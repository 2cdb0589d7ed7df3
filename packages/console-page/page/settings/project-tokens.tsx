import { TokensSection } from './tokens-section.tsx'
import { useProjectTokens } from './use-project-tokens.ts'

/** What programs of the project work with; only its owners ask for it. */
export function ProjectTokens() {
  return (
    <TokensSection
      title="Tokens for programs"
      of={useProjectTokens()}
      text="A program that sends one may do in this project what the token lists, and nothing that hands out access. To call models it needs a key."
    />
  )
}
