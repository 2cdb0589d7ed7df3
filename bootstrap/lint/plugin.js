// The rules of this project that no general linter knows. Each says its reason in its message.
import { importDirection } from './import-direction.js'
import { processEnv } from './process-env.js'
import { purePlaces } from './pure-places.js'

export default {
  meta: { name: 'local' },
  rules: { 'import-direction': importDirection, 'pure-places': purePlaces, 'process-env': processEnv },
}
