import { TokensSection } from './tokens-section.tsx'
import { useProjectTokens } from './use-project-tokens.ts'

/** Service tokens of the project. Rendered for Project Owners only. */
export function ProjectTokens() {
  return (
    <TokensSection
      title="Service tokens"
      of={useProjectTokens()}
      text="Tokens let scripts act in this project with the permissions you pick. They can't grant access to others. To call models, use an API key."
    />
  )
}
