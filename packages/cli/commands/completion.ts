/** `assay completion`: a shell script that completes commands and options, generated from the commands themselves. */
import { Argument, Command } from 'commander'

type Node = {
  /** Words after `assay`, each preceded by a blank; empty for `assay` itself. */
  readonly path: string
  readonly words: readonly { readonly word: string; readonly about: string }[]
}

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

const HOW = `
bash:  eval "$(assay completion bash)"     in ~/.bashrc
zsh:   eval "$(assay completion zsh)"      in ~/.zshrc, after compinit
fish:  assay completion fish | source      in ~/.config/fish/config.fish`

export const completionCommand = (program: Command): Command =>
  new Command('completion')
    .description('print a script that completes commands and options with the Tab key')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', HOW)
    .action((shell: keyof typeof SHELLS) => {
      process.stdout.write(SHELLS[shell](nodesOf(program)))
    })

function nodesOf(command: Command, path = ''): Node[] {
  const commands = command.commands.map(each => ({ word: each.name(), about: each.description() }))
  const options = command.options.map(each => ({ word: each.long ?? each.flags, about: each.description }))
  return [
    { path, words: [...commands, ...options, { word: '--help', about: 'display help for command' }] },
    ...command.commands.flatMap(each => nodesOf(each, `${path} ${each.name()}`)),
  ]
}

/** The words so far that are names of commands lead to a node; the rest are arguments and values. */
const walk = (nodes: readonly Node[], words: string): string => `  local word at=""
  for word in ${words}; do
    case "$at $word" in
      ${nodes
        .filter(({ path }) => path !== '')
        .map(({ path }) => `"${path}"`)
        .join('|')}) at="$at $word" ;;
    esac
  done`

function bashScript(nodes: readonly Node[]): string {
  const cases = nodes.map(
    ({ path, words }) =>
      `    "${path}") COMPREPLY=($(compgen -W "${words.map(({ word }) => word).join(' ')}" -- "$current")) ;;`,
  )
  return `# Completion of assay for bash.
_assay() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
${walk(nodes, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "$at" in
${cases.join('\n')}
  esac
}
complete -o default -F _assay assay
`
}

function zshScript(nodes: readonly Node[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const cases = nodes.map(
    ({ path, words }) =>
      `    "${path}") entries=(${words.map(({ word, about }) => quoted(`${word}:${about.replaceAll(':', '\\:')}`)).join(' ')}) ;;`,
  )
  return `# Completion of assay for zsh.
_assay() {
  local -a entries
${walk(nodes, '"${(@)words[2,CURRENT-1]}"')}
  case "$at" in
${cases.join('\n')}
  esac
  _describe 'assay' entries || _files
}
compdef _assay assay
`
}

function fishScript(nodes: readonly Node[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const lines = nodes.flatMap(({ path, words }) =>
    words.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c assay -n '__assay_at ${quoted(path).replaceAll("'", '"')}' ${word.startsWith('--') ? '' : '-f '}${what} -d ${quoted(about)}`
    }),
  )
  return `# Completion of assay for fish.
function __assay_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    if contains -- "$path $word" ${known.join(' ')}
      set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`
}
