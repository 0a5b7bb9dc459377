// `oprun completions SHELL`: the scripts that make a shell ask oprun for completions.

import Reporting

extension Tool {
  func writeCompletions(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    guard let word = invocation.operands.first, let shell = CompletionShell(rawValue: word) else {
      throw .unknownShell(invocation.operands.first ?? "", invocation.command)
    }
    output.write(shell.script)
    return ExitStatus.success
  }
}

/// A shell that can complete command lines.
enum CompletionShell: String, CaseIterable {
  case bash
  case zsh
  case fish

  /// The script; it calls the program that the line names.
  var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  /// The script for bash, which splits a line at `=` and `:`, and replaces only the text after the
  /// last of them.
  private static let bashScript = #"""
    # Completions of oprun for bash. In ~/.bashrc:  source <(oprun completions bash)
    _oprun() {
      local rest=${COMP_LINE:0:COMP_POINT} words=() word line start quoted index
      for ((index = 0; index <= COMP_CWORD; index++)); do
        if [[ $index -gt 0 && -n $rest && $rest != [[:space:]]* ]]; then
          [[ $index -lt $COMP_CWORD ]] && word=${COMP_WORDS[index]} || word=$rest
          words[${#words[@]} - 1]+=$word
        else
          rest=${rest#"${rest%%[![:space:]]*}"}
          [[ $index -lt $COMP_CWORD ]] && word=${COMP_WORDS[index]} || word=$rest
          words+=("$word")
        fi
        rest=${rest#"$word"}
      done
      [[ $word == [=:] ]] && word=
      start=${words[${#words[@]} - 1]%"$word"}
      words=("${words[@]//\\/}")
      [[ -n $start ]] && printf -v start %q "${start//\\/}"
      COMPREPLY=()
      while IFS= read -r line; do
        printf -v quoted %q "${line%%$'\t'*}"
        COMPREPLY+=("${quoted#"$start"}")
      done < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
      [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace
    }
    complete -o nosort -F _oprun oprun

    """#

  private static let zshScript = #"""
    #compdef oprun
    # Completions of oprun for zsh. As a file _oprun in a directory of $fpath, or, after compinit,
    # in ~/.zshrc:  source <(oprun completions zsh)
    _oprun() {
      local line word description
      local -a whole partial
      for line in "${(@f)$(${~words[1]} __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        word=${line%%$'\t'*}
        description=${${line#"$word"}#$'\t'}
        word=${word//:/\\:}
        case $word in
          *[=/]) partial+=("$word${description:+:$description}") ;;
          *) whole+=("$word${description:+:$description}") ;;
        esac
      done
      local result=1
      if (( $#whole )); then _describe -V 'oprun' whole && result=0; fi
      if (( $#partial )); then _describe -V 'oprun' partial -S '' && result=0; fi
      return result
    }
    if [[ $funcstack[1] == _oprun ]]; then _oprun "$@"; else compdef _oprun oprun; fi

    """#

  private static let fishScript = #"""
    # Completions of oprun for fish. As ~/.config/fish/completions/oprun.fish, or:
    # oprun completions fish | source
    function __oprun_complete
      set -l words (commandline -opc)
      $words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null
    end
    complete -c oprun -f -k -a '(__oprun_complete)'

    """#
}
