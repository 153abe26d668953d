# Runs one program and ends it when this script's standard input closes. The kernel closes that
# pipe however its other end goes away: a test that returns, panics, meets Ctrl-C or kill -9.
#
# usage: sh -c "$(cat supervisor.sh)" supervisor <pid file> <program> [argument ...]

pid_file=$1
shift

# A background job's standard input is /dev/null, so the pipe needs a number of its own.
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
echo "$program" >"$pid_file"

end_the_program() {
    while read -r _; do :; done <&3
    kill -TERM "$program"
    tenths=0
    while [ "$tenths" -lt 50 ]; do
        sleep 0.1
        kill -0 "$program" || return
        tenths=$((tenths + 1))
    done
    kill -KILL "$program"
}
end_the_program 2>/dev/null &
guard=$!

wait "$program"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
