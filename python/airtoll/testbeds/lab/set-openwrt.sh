#!/bin/sh
# Sets an OpenWrt access point to the AIRTOLL_* variables (see docs/guides/lab.md).
# AIRTOLL_SSH is the ssh command, AIRTOLL_ADDRESS its destination. The batch reaches uci on standard
# input, so that no secret is an argument of a process.
set -eu

fail() { echo "set-openwrt: $*" >&2; exit 1; }

case $AIRTOLL_SECURITY in
    open) encryption=none ;;
    wep) encryption=wep-$([ "$AIRTOLL_AUTHENTICATION" = shared-key ] && echo shared || echo open) ;;
    wpa-psk) encryption=psk ;;
    wpa2-psk) encryption=psk2 ;;
    wpa-wpa2-psk) encryption=psk-mixed ;;
    wpa3-sae) encryption=sae ;;
    wpa2-wpa3-psk) encryption=sae-mixed ;;
    wpa-eap) encryption=wpa ;;
    wpa2-eap) encryption=wpa2 ;;
    wpa3-eap) encryption=wpa3 ;;
    wpa3-eap-192) encryption=wpa3-192 ;;
    owe) encryption=owe ;;
    *) fail "OpenWrt has no setting for $AIRTOLL_SECURITY" ;;
esac
case $AIRTOLL_SECURITY in
    open | wep | owe | wpa3-*) ;;
    wpa-wpa2-psk) encryption=$encryption+tkip+ccmp ;;
    *)
        case $AIRTOLL_CIPHER in
            tkip) encryption=$encryption+tkip ;;
            ccmp-128) encryption=$encryption+ccmp ;;
            gcmp-128) encryption=$encryption+gcmp ;;
            *) fail "OpenWrt has no setting for the cipher $AIRTOLL_CIPHER with $AIRTOLL_SECURITY" ;;
        esac ;;
esac
case $AIRTOLL_BAND in 2.4) band=2g ;; 5) band=5g ;; 6) band=6g ;; esac
case $AIRTOLL_PHY in
    802.11n) htmode=HT$AIRTOLL_WIDTH_MHZ ;;
    802.11ac) htmode=VHT$AIRTOLL_WIDTH_MHZ ;;
    802.11ax) htmode=HE$AIRTOLL_WIDTH_MHZ ;;
    802.11be) htmode=EHT$AIRTOLL_WIDTH_MHZ ;;
    *) htmode=NOHT ;;
esac
case $AIRTOLL_PMF in required) pmf=2 ;; optional) pmf=1 ;; *) pmf=0 ;; esac
# 802.11b alone has rates of DSSS and CCK alone.
rates=; basic=$AIRTOLL_BASIC_RATES_MBPS; legacy=0
if [ "$AIRTOLL_PHY" = 802.11b ]; then rates="1 2 5.5 11"; legacy=1; : "${basic:=1 2}"; fi

# Values of uci are quoted as in a shell.
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
option() { if [ -n "$2" ]; then echo "set wireless.$1=$(quoted "$2")"; else echo "delete wireless.$1"; fi; }
kilobits() { for rate in $2; do echo "add_list wireless.$1=$(quoted "$(echo "$rate" | awk '{ printf "%d", $1 * 1000 }')")"; done; }

batch() {
    option "RADIO.channel" "$AIRTOLL_CHANNEL"
    option "RADIO.htmode" "$htmode"
    option "RADIO.country" "$AIRTOLL_COUNTRY"
    option "RADIO.beacon_int" "$AIRTOLL_BEACON_INTERVAL_TU"
    option "RADIO.rts" "$AIRTOLL_RTS_THRESHOLD"
    option "RADIO.frag" "$AIRTOLL_FRAGMENTATION_THRESHOLD"
    option "RADIO.legacy_rates" "$legacy"
    option "RADIO.disabled" 0
    echo "delete wireless.RADIO.supported_rates"
    kilobits "RADIO.supported_rates" "$rates"
    echo "delete wireless.RADIO.basic_rate"
    kilobits "RADIO.basic_rate" "$basic"
    option "IFACE.ssid" "$AIRTOLL_SSID"
    option "IFACE.mode" ap
    option "IFACE.hidden" 0
    option "IFACE.disabled" 0
    option "IFACE.encryption" "$encryption"
    option "IFACE.ieee80211w" "$pmf"
    option "IFACE.dtim_period" "$AIRTOLL_DTIM_PERIOD"
    option "IFACE.isolate" "$AIRTOLL_ISOLATION"
    case $AIRTOLL_PREAMBLE in
        short) option "IFACE.short_preamble" 1 ;;
        long) option "IFACE.short_preamble" 0 ;;
        *) option "IFACE.short_preamble" "" ;;
    esac
    if [ -n "$AIRTOLL_WEP_KEY" ]; then
        option "IFACE.key" 1
        option "IFACE.key1" "$AIRTOLL_WEP_KEY"
    else
        option "IFACE.key" "$AIRTOLL_PASSPHRASE"
        option "IFACE.key1" ""
    fi
    option "IFACE.auth_server" "$AIRTOLL_RADIUS_SERVER"
    option "IFACE.auth_port" "$AIRTOLL_RADIUS_PORT"
    option "IFACE.auth_secret" "$AIRTOLL_RADIUS_SECRET"
    option "IFACE.ieee80211r" "$AIRTOLL_FAST_TRANSITION"
    option "IFACE.mobility_domain" "$AIRTOLL_MOBILITY_DOMAIN"
    option "IFACE.macfilter" "$([ -n "$AIRTOLL_MAC_FILTER" ] && echo allow || true)"
    echo "delete wireless.IFACE.maclist"
    for address in $AIRTOLL_MAC_FILTER; do echo "add_list wireless.IFACE.maclist=$(quoted "$address")"; done
}

# There: the radio of the band, its first access point; the other radios are off meanwhile.
there() {
    cat <<'REMOTE'
set -eu
radio=
for section in $(uci show wireless | sed -n "s/^wireless\.\([^.=]*\)=wifi-device$/\1/p"); do
    if [ "$(uci -q get "wireless.$section.band")" = "$band" ]; then radio=${radio:-$section}
    else uci set "wireless.$section.disabled=1"; fi
done
[ -n "$radio" ] || { echo "no radio of band $band" >&2; exit 1; }
iface=
for section in $(uci show wireless | sed -n "s/^wireless\.\([^.=]*\)=wifi-iface$/\1/p"); do
    [ "$(uci -q get "wireless.$section.device")" = "$radio" ] || continue
    if [ -z "$iface" ]; then iface=$section; else uci set "wireless.$section.disabled=1"; fi
done
[ -n "$iface" ] || { echo "no access point on $radio: add a wifi-iface" >&2; exit 1; }
printf '%s\n' "$batch" | sed "s/^\([a-z_]* wireless\.\)RADIO/\1$radio/; s/^\([a-z_]* wireless\.\)IFACE/\1$iface/" |
    uci -q batch >/dev/null || true
uci commit wireless
wifi reload
REMOTE
}

{
    echo "band=$band"
    printf "batch=%s\n" "$(quoted "$(batch)")"
    there
} | ${AIRTOLL_SSH:-ssh -o BatchMode=yes} "$AIRTOLL_ADDRESS" sh -s
